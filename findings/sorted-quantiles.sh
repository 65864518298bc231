#!/bin/sh
# Dask's p99 of a sorted column is a seventh of the true one.
#
# Seen: 100,000 Pareto values in ten partitions: the exact 99th percentile is 44.8.
# Series.quantile of Dask 2026.8.0 says 50.4 for the values in random order, and 6.7 for the same
# values sorted, or 12.0 if the median and the 99.9th percentile are asked for in the same call.
# It merges percentiles of partitions, and each partition of a sorted column is another range. No
# call warns.
#
# Why it matters: tables of flows are sorted: by end, by size, or one file a seed. The number
# looks plausible, and cuts the tail of the arm whose table happens to be sorted.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    numpy==2.4.6 pandas==3.1.1 dask[dataframe]==2026.8.0
cd "$dir"
venv/bin/python - <<'END'
import dask.dataframe, numpy, pandas
values = numpy.random.default_rng(1).pareto(1.2, 100_000) + 1
exact = numpy.quantile(values, 0.99)
def p99(column):
    frame = dask.dataframe.from_pandas(pandas.DataFrame({"x": column}), npartitions=10)
    alone = float(frame["x"].quantile(0.99).compute())
    return alone, float(frame["x"].quantile([0.5, 0.99, 0.999]).compute()[0.99])
shuffled, ordered = p99(values), p99(numpy.sort(values))
print(f"exact {exact:.1f}, random order {shuffled[0]:.1f}, sorted {ordered[0]:.1f}, with others {ordered[1]:.1f}")
assert abs(exact - 44.76) < 0.01
assert 1.05 < shuffled[0] / exact < 1.25
assert ordered[0] / exact < 0.2 < ordered[1] / exact < 0.35
END
echo 'sorted-quantiles: as described'

#!/bin/sh
# A 99th percentile of the same 100 completion times is 1.0, 10.99 or 500.5, by the library.
#
# Seen: 99 flows take 1 ms, one takes 1,000 ms. numpy 2.4.6, pandas 3.1.1 and DuckDB's
# quantile_cont interpolate (10.99). polars 2.1.0 takes the nearest value by default, and DuckDB
# 2.0.1's quantile takes one that occurs (1.0). DuckDB's approx_quantile gives 500.5. No call
# warns.
#
# Why it matters: papers report p99 of some hundred flows. Two people with the same flows and the
# same word in their script differ by a factor of 500, and a table computed by two tools compares
# tools. Name the rule (numpy: method=, polars: interpolation=), and the number of flows.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    numpy==2.4.6 pandas==3.1.1 polars==2.1.0 duckdb==2.0.1
cd "$dir"
venv/bin/python - <<'END'
import duckdb, numpy, pandas, polars
fct = [1.0] * 99 + [1000.0]
seen = {
    "numpy.percentile": float(numpy.percentile(fct, 99)),
    "pandas quantile": float(pandas.Series(fct).quantile(0.99)),
    "polars quantile": polars.Series(fct).quantile(0.99),
}
flows = pandas.DataFrame({"x": fct})
for name in ("quantile", "quantile_cont", "approx_quantile"):
    seen["duckdb " + name] = duckdb.sql(f"select {name}(x, 0.99) from flows").fetchall()[0][0]
for name, value in seen.items():
    print(f"{name:24} {value:.2f}")
assert abs(seen["numpy.percentile"] - 10.99) < 0.001
assert seen["pandas quantile"] == seen["duckdb quantile_cont"] == seen["numpy.percentile"]
assert seen["polars quantile"] == seen["duckdb quantile"] == 1.0
assert seen["duckdb approx_quantile"] > 400
END
echo 'percentiles: as described'

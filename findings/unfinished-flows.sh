#!/bin/sh
# A flow without an end vanishes from a mean, or becomes the largest, by how it is written.
#
# Seen: three flows took 1, 2 and 4 s, one has not finished. As null, polars 2.1.0 leaves it out
# of mean and quantiles. As NaN, polars makes the mean NaN and the largest quantile NaN, but max()
# is 4. pandas 3.1.1 leaves NaN out of all. numpy 2.4.6 makes all NaN.
#
# Why it matters: flows that do not finish are the slow ones. A library that leaves them out in
# silence reports the mean of the fast ones, and the worse transport wins. Count them, and treat
# them as at least as old as the run.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    numpy==2.4.6 pandas==3.1.1 polars==2.1.0
cd "$dir"
venv/bin/python - <<'END'
import math, numpy, pandas, polars
nan = float("nan")
null, na = polars.Series([1.0, 2.0, None, 4.0]), polars.Series([1.0, 2.0, nan, 4.0])
frame = pandas.Series([1.0, 2.0, nan, 4.0])
print("polars null: mean", null.mean(), "quantile 1.0", null.quantile(1.0))
print("polars NaN:  mean", na.mean(), "quantile 1.0", na.quantile(1.0), "max", na.max())
print("pandas NaN:  mean", frame.mean(), "quantile 1.0", frame.quantile(1.0))
print("numpy NaN:   mean", numpy.mean(frame.to_numpy()))
assert abs(null.mean() - 7 / 3) < 1e-12 and null.quantile(1.0) == 4.0
assert math.isnan(na.mean()) and math.isnan(na.quantile(1.0)) and na.max() == 4.0
assert abs(frame.mean() - 7 / 3) < 1e-12 and frame.quantile(1.0) == 4.0
assert math.isnan(numpy.mean(frame.to_numpy()))
END
echo 'unfinished-flows: as described'

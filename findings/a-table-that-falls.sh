#!/bin/sh
# numpy.interp draws from a table that falls as if nothing were wrong, scipy's interp1d draws others.
#
# Seen: the probabilities of a flow-size table are 0, 0.6, 0.4, 1: two lines are exchanged. numpy
# 2.4.6's interp returns 0.83 and 0.75 for the probabilities 0.5 and 0.45; scipy 1.17.1's interp1d
# sorts the table first and returns 1.5 and 1.75. Neither warns, nor checks that the last
# probability is 1.
#
# Why it matters: published tables of flow sizes are copied by hand, and one in circulation falls.
# The load that a workload offers then depends on the function that inverts the table. Check that
# the table rises and ends at 1 before you draw.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    numpy==2.4.6 scipy==1.17.1
cd "$dir"
venv/bin/python - <<'END'
import warnings, numpy
from scipy.interpolate import interp1d
warnings.simplefilter("error")
probabilities, sizes = [0, 0.6, 0.4, 1], [0, 1, 2, 3]
drawn = numpy.array([0.5, 0.45])
one, other = numpy.interp(drawn, probabilities, sizes), interp1d(probabilities, sizes)(drawn)
print("numpy", one.round(3), "scipy", other.round(3))
assert numpy.allclose(one, [0.8333333, 0.75]) and numpy.allclose(other, [1.5, 1.75])
END
echo 'a-table-that-falls: as described'

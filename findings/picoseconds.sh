#!/bin/sh
# Serialisation times in picoseconds overflow in numpy and numba without a word.
#
# Seen: 2 MB at 10 Gbps take 1,600,000,000 ps. size * 8 * 10**12 // rate gives that in Python.
# numpy 2.4.6 (arrays of int64) and a function compiled by numba 0.68.1 give -244,674,408: the
# product passes 2**63. 1 MB is still right. Neither warns.
#
# Why it matters: simulators count in picoseconds, and scripts convert sizes to times. Small flows
# come out right, and flows above 1.15 MB get a time that is wrong or negative; the test with
# small numbers passes.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    numpy==2.4.6 numba==0.68.1
cd "$dir"
venv/bin/python - <<'END'
import warnings, numba, numpy
warnings.simplefilter("error")
def time_ps(size, rate):
    return size * 8 * 1_000_000_000_000 // rate
compiled = numba.njit(time_ps)
rate = 10**10
seen = {
    "Python": time_ps(2_000_000, rate),
    "numpy": int(time_ps(numpy.array([2_000_000]), rate)[0]),
    "numba": compiled(2_000_000, rate),
}
print(seen)
assert seen == {"Python": 1_600_000_000, "numpy": -244_674_408, "numba": -244_674_408}
assert compiled(1_000_000, rate) == time_ps(1_000_000, rate) == 800_000_000
END
echo 'picoseconds: as described'

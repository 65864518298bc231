#!/bin/sh
# pandas makes 64-bit identifiers equal when one of them is missing.
#
# Seen: a Parquet column of unsigned 64-bit numbers, two different ones and a null, written by
# polars 2.1.0: pandas 3.1.1 reads it as float64, and the two are one number. Without the null it
# reads uint64.
#
# Why it matters: seeds, hashes of paths and flow ids have 64 bits, and an unfinished or unpinned
# flow has none. One missing value anywhere in the column joins rows that are not the same. Ask
# for dtype_backend='numpy_nullable' or 'pyarrow'.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    pandas==3.1.1 polars==2.1.0 pyarrow==26.0.1
cd "$dir"
venv/bin/python - <<'END'
import pandas, polars
ids = [2**63 + 25, 2**63 + 26]
for name, column in (("whole", ids), ("hole", [*ids, None])):
    polars.DataFrame({"id": polars.Series(column, dtype=polars.UInt64)}).write_parquet(name)
whole, hole = pandas.read_parquet("whole")["id"], pandas.read_parquet("hole")["id"]
kept = pandas.read_parquet("hole", dtype_backend="numpy_nullable")["id"]
print(whole.dtype, whole.nunique(), "|", hole.dtype, hole.nunique(), "|", kept.dtype, kept.nunique())
assert (str(whole.dtype), whole.nunique()) == ("uint64", 2)
assert (str(hole.dtype), hole.nunique()) == ("float64", 1)
assert kept.nunique() == 2
END
echo 'identifiers: as described'

#!/bin/sh
# pandas reads the hosts NA, null and None as missing, and 007 as 7; polars keeps NA.
#
# Seen: pandas 3.1.1 read_csv turns the names NA, null, nan and None into missing values; polars
# 2.1.0 read_csv keeps them as text. Both turn a column of 007, 008 into 7, 8.
#
# Why it matters: traces name hosts by site or rack ('NA' is North America, 'na1' is not). Flows
# of such a host vanish from every group_by and join of pandas, and ids with leading zeros no
# longer match those of the topology file. Say keep_default_na=False and dtype=str.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    pandas==3.1.1 polars==2.1.0
cd "$dir"
venv/bin/python - <<'END'
import io, pandas, polars
trace = "src,dst,bytes\nNA,h1,1\nnull,h2,2\nh3,None,3\n"
a, b = pandas.read_csv(io.StringIO(trace)), polars.read_csv(io.StringIO(trace))
print("pandas", a["src"].tolist(), a["dst"].tolist(), "groups", a.groupby("src").ngroups)
print("polars", b["src"].to_list(), b["dst"].to_list())
assert a["src"].isna().tolist() == [True, True, False] and a["dst"].isna().tolist() == [False, False, True]
assert a.groupby("src").ngroups == 1
assert b["src"].to_list() == ["NA", "null", "h3"] and b["dst"].to_list() == ["h1", "h2", "None"]
ids = "id\n007\n008\n"
assert pandas.read_csv(io.StringIO(ids))["id"].tolist() == polars.read_csv(io.StringIO(ids))["id"].to_list() == [7, 8]
END
echo 'hosts-called-na: as described'

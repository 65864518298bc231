#!/bin/sh
# Each look at a DuckDB relation runs its query again, with other random numbers.
#
# Seen: DuckDB 2.0.1: relation = duckdb.sql('select random()'), then two calls of fetchall() give
# two different numbers. The relation keeps no result. create() of a table keeps one.
#
# Why it matters: a sample of flows for a plot ('using sample 1000', 'order by random()') is
# another sample in the table beside the plot, and an expensive query over a large result runs
# once for each line that looks at it.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    duckdb==2.0.1
cd "$dir"
venv/bin/python - <<'END'
import duckdb
drawn = duckdb.sql("select random() as x from range(5)")
first, second = drawn.fetchall(), drawn.fetchall()
duckdb.sql("create table kept as select random() as x from range(5)")
kept = duckdb.sql("select x from kept")
print(first[0], second[0])
assert first != second
assert kept.fetchall() == kept.fetchall()
END
echo 'a-query-runs-again: as described'

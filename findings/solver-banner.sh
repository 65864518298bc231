#!/bin/sh
# highspy prints a banner on standard output before it can be told to be silent.
#
# Seen: highspy 1.16.0 prints two lines on file descriptor 1 when Highs() is made;
# setOptionValue('output_flag', False) and silent() come too late for the first object of a
# process, and contextlib.redirect_stdout does not catch the lines, because C++ prints them.
#
# Why it matters: a command that prints JSON or CSV and solves a linear program on the way (the
# best possible sharing of links, say) prints two lines of text first, and the next program in the
# pipe fails to parse. Redirect file descriptor 1 while the first object is made.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    highspy==1.16.0
cd "$dir"
venv/bin/python - <<'END'
import subprocess, sys
program = """
import contextlib, io, json, highspy
with contextlib.redirect_stdout(io.StringIO()):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
print(json.dumps({"goodput": 1.0}))
"""
printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
lines = printed.splitlines()
print(printed, end="")
assert lines[0].startswith("Running HiGHS 1.16.0") and len(lines) == 3, lines
assert lines[2] == '{"goodput": 1.0}'
END
echo 'solver-banner: as described'

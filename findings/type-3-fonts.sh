#!/bin/sh
# matplotlib's PDF has Type 3 fonts, and its SVG differs from run to run.
#
# Seen: matplotlib 3.11.2 with its defaults: a PDF of a plot embeds its text as Type 3
# (pdf.fonttype is 3), and two SVGs of the same plot have different bytes. A fixed svg.hashsalt
# alone does not mend it: the date differs, too.
#
# Why it matters: submission systems such as IEEE PDF eXpress refuse Type 3 fonts, on the evening
# of the deadline. And a reproduction that compares figures by their bytes fails each time. Set
# pdf.fonttype to 42, svg.hashsalt, and metadata={'Date': None}.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    matplotlib==3.11.2
cd "$dir"
venv/bin/python - <<'END'
import io, time, matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot
def saved(**settings):
    figure, axes = pyplot.subplots()
    axes.plot([1, 2])
    axes.set_xlabel("time, s")
    file = io.BytesIO()
    figure.savefig(file, **settings)
    pyplot.close(figure)
    return file.getvalue()
def twice(**settings):
    first = saved(format="svg", **settings)
    time.sleep(1.1)
    return first == saved(format="svg", **settings)
assert b"/Type3" in saved(format="pdf") or b"/Type 3" in saved(format="pdf")
plain = twice()
matplotlib.rcParams["svg.hashsalt"] = "linkpool"
salted, dated = twice(), twice(metadata={"Date": None})
matplotlib.rcParams["pdf.fonttype"] = 42
print(f"same SVG: {plain}; with a salt: {salted}; without a date: {dated}")
assert (plain, salted, dated) == (False, False, True)
assert b"/Type3" not in saved(format="pdf")
END
echo 'type-3-fonts: as described'

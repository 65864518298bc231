"""What is said of results before their numbers are believed."""

import subprocess
import sys
from pathlib import Path

import pytest

import linkpool
from linkpool.notices import notices

pytestmark = pytest.mark.core

FABRIC = """
duration = "1ms"
drain = "2s"
[routing]
reconverge = "never"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "dctcp"
[[workload.flow]]
transport = "t"
from = "h0"
to = "h1"
size = "20KB"
"""


def said(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    return notices(linkpool.run(tmp_path / "s.toml", out=tmp_path / "result", threads=1))


def test_a_change_that_met_no_packet_is_named(tmp_path: Path) -> None:
    """A flow within a rack crosses no spine."""
    change = '[[change]]\nlinks = ["l0<->s0", "l1<->s0"]\nstate = "down"\nat = "100us"\n'
    (notice,) = said(tmp_path, FABRIC + change)
    assert notice == (
        "4 of 4 changed links met no packet in the whole run (no flow took them): "
        "l0->s0, l1->s0, s0->l0 and 1 more"
    )
    shown = subprocess.run(
        [sys.executable, "-m", "linkpool", "show", tmp_path / "result"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert " ".join(f"note: {notice}".split()) in " ".join(shown.split())
    met = change + '[[change]]\nlinks = ["h0<->l0"]\nrate = "1Gbps"\nat = "1us"\n'
    (notice,) = said(tmp_path, FABRIC + met)
    assert notice.startswith("4 of 6 changed links met no packet")
    routed = FABRIC.replace("never", "10us") + change
    assert "(no flow took them, or routing avoided them)" in said(tmp_path, routed)[0]


def test_a_study_names_the_arms_whose_changes_met_no_packet(tmp_path: Path) -> None:
    """Otherwise two arms look as if a failure did nothing."""
    down = '{ links = ["l0<->s0"], state = "down", at = "100us" }'
    met = '{ links = ["h0<->l0"], rate = "1Gbps", at = "1us" }'
    arms = f"""
arm = [
  {{ name = "none" }},
  {{ name = "unmet", set.change = [{down}], set.routing.reconverge = "never" }},
  {{ name = "met", set.change = [{met}] }},
]
"""
    (tmp_path / "s.toml").write_text(FABRIC.replace('[routing]\nreconverge = "never"\n', ""))
    study = tmp_path / "study.toml"
    study.write_text(f'base = "s.toml"\nseeds = 2\nmeasures = ["fct.mean"]\n{arms}')
    result = linkpool.Study.load(study).run(out=tmp_path / "out")
    assert result.remarks()[2:] == [
        "unmet: 2 of 2 changed links met no packet in the whole run (no flow took them): "
        "l0->s0, s0->l0 (so in 2 of 2 runs)"
    ]


def test_a_run_that_mostly_repeats_itself_is_named(tmp_path: Path) -> None:
    """With eight of ten packets lost more than half of the segments are sent again."""
    fabric = FABRIC.replace('[routing]\nreconverge = "never"\n', "")
    lossy = fabric + '[[change]]\nlinks = ["l0->h1"]\nloss = 0.8\n'
    lossy = lossy.replace("[[workload.flow]]", "[[workload.flow]]\ncount = 10").replace(
        'control = "dctcp"',
        'control = "dctcp"\nmin_rto = "1ms"\ninitial_rto = "1ms"\nmax_rto = "1ms"',
    )
    (notice,) = said(tmp_path, lossy)
    assert "% of all segments were sent again (" in notice
    share, again, of = (
        int("".join(filter(str.isdigit, w))) for w in notice.split() if any(map(str.isdigit, w))
    )
    assert share > 50
    assert share == round(100 * again / of)
    assert said(tmp_path, fabric) == []

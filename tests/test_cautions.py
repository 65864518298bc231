"""What a plan warns of, and what `study show` says of a file that was edited."""

from pathlib import Path

import pytest

from linkpool import _core
from linkpool.cli import app
from linkpool.doubts import doubts, dropped, short_drains, untrimmed
from linkpool.study import Plan, Study, StudyResult, run_study
from linkpool.study.cautions import cautions, listed
from linkpool.study.edited import changes
from linkpool.study.point import Point

pytestmark = pytest.mark.core

BASE = """
duration = "1ms"
drain = "300ms"
[topology.many-to-one]
senders = 2
rate = "10Gbps"
delay = "1us"
[queue]
limit = 100
mark = 20
[transport.t]
control = "dctcp"
[[workload.many-to-one]]
transport = "t"
flows = 2
receiver = "R"
size = "10KB"
"""


def said(folder: Path, study: str, base: str = BASE) -> list[str]:
    """Return what the plan of a study warns of."""
    (folder / "base.toml").write_text(base, encoding="utf-8")
    parsed = Study.parse(f'base = "base.toml"\nseeds = 2\n{study}', folder / "s.toml")
    return cautions(Plan.of(parsed, folder / "results").entries)


NDP = '{ name = "ndp", set = { queue = { discipline = "trimming" }, transport.t.control = "ndp" } }'
KEPT = "queue.limit = 100 of the base is kept; the default there is 8"


def test_an_arm_keeps_what_it_does_not_set(tmp_path: Path) -> None:
    """TOML does not tell an inline table from dotted keys, so both merge with the base."""
    study = f'arm = [{{ name = "dctcp" }}, {NDP}]'
    assert said(tmp_path, study) == [f"ndp: {KEPT}"]
    (tmp_path / "s.toml").write_text(f'base = "base.toml"\n{study}', encoding="utf-8")
    (_, ndp) = Plan.of(Study.load(tmp_path / "s.toml"), tmp_path / "results").entries
    assert "limit = 100" in ndp.scenario.toml
    dotted = NDP.replace("queue = { discipline =", "queue.discipline =").replace(" },", ",", 1)
    assert said(tmp_path, f'arm = [{{ name = "dctcp" }}, {dotted}]') == [f"ndp: {KEPT}"]
    (kept, dropped) = said(tmp_path, 'vary = { queue.discipline = ["fifo", "trimming"] }')
    assert kept == f"queue.discipline trimming: {KEPT}"
    assert "ports trim, but drop the packets of transport t" in dropped


def test_runs_are_named_by_what_they_alone_share(tmp_path: Path) -> None:
    poisson = BASE.partition("[[workload")[0] + (
        '[[workload.poisson]]\ntransport = "t"\nload = 0.1\nsize = "10KB"\nstop = "100us"\n'
    )
    arms = 'arm = [{ name = "a" }, { name = "b", set.transport.t.control = "reno" }]\n'
    lines = said(tmp_path, f"{arms}vary = {{ workload.poisson.0.load = [0.1, 0.3] }}", poisson)
    who = [line.partition(": ")[0] for line in lines if "offered load" in line]
    assert who == ["poisson load 0.1", "poisson load 0.3"]
    kept = f"{arms[:-2]}, {NDP}]\nvary = {{ duration = ['1ms', '2ms'] }}"
    assert [line for line in said(tmp_path, kept) if KEPT in line] == [f"ndp: {KEPT}"]


def test_what_an_arm_sets_or_would_have_anyway_is_not_named(tmp_path: Path) -> None:
    own = NDP.replace('"trimming" }', '"trimming", limit = 100 }')
    assert said(tmp_path, f'arm = [{{ name = "dctcp" }}, {own}]') == []
    reno = '{ name = "reno", set.transport.t.control = "reno" }'
    asked = BASE.replace('control = "dctcp"', 'control = "dctcp"\nmin_rto = "150ms"')
    assert said(tmp_path, f'arm = [{{ name = "dctcp" }}, {reno}]', asked) == [], "200 ms for both"
    without = BASE.replace("limit = 100\n", "")
    assert said(tmp_path, f"arm = [{NDP}]", without.replace("mark = 20\n", "")) == []
    same = BASE.replace("limit = 100", "limit = 8").replace("mark = 20", "mark = 4")
    assert said(tmp_path, f'arm = [{{ name = "dctcp" }}, {NDP}]', same) == [], "8 by default, too"


def test_a_drain_shorter_than_a_timeout_is_named(tmp_path: Path) -> None:
    short = BASE.replace('"300ms"', '"199ms"')
    line = (
        "a drain of 199ms is shorter than the min_rto of transport t, 200ms; a flow that loses its "
        "last segment cannot finish in it"
    )
    ndp = NDP.replace('"trimming" }', '"trimming", limit = 8, mark = 4 }')
    assert said(tmp_path, f'arm = [{{ name = "dctcp" }}, {ndp}]', short) == [f"dctcp: {line}"]
    assert said(tmp_path, "", short) == [f"the base: {line}"]
    assert said(tmp_path, "vary.queue.mark = [5, 6]", short) == [f"each arm: {line}"]
    assert said(tmp_path, "", BASE.replace('"300ms"', '"200ms"')) == []
    assert said(tmp_path, "", short.replace('size = "10KB"', 'size = "unlimited"')) == []
    many = ", ".join(f'{{ name = "a{i}", set.transport.t.min_rto = "1ms" }}' for i in range(2))
    more = ", ".join(f'{{ name = "b{i}" }}' for i in range(13))
    assert said(tmp_path, f"arm = [{more}, {many}]", short) == [
        f"13 of 15 arms, of which b0: {line}"
    ]
    more = ", ".join(f'{{ name = "b{i}" }}' for i in range(12))
    named = ", ".join(f"b{i}" for i in range(11)) + " and b11"
    assert said(tmp_path, f"arm = [{more}, {many}]", short) == [f"{named}: {line}"]
    assert list(short_drains('[transport.t]\nmin_rto = "1ms"\n[[workload.trace]]\n'))


def test_packets_that_may_not_be_trimmed_are_named() -> None:
    trims = '[queue]\ndiscipline = "trimming"\n'
    layer = '[queue]\ndiscipline = "fifo"\n[queue.layer.edge]\ndiscipline = "trimming"\n'
    tcp, ndp = "[transport.t]\ntrimming = false\n", '[transport.n]\nmss = "1KB"\n'
    line = (
        "ports trim, but drop the packets of transport t, as its `trimming` is false; "
        "with trimming = true they are trimmed"
    )
    assert list(untrimmed(trims + tcp + ndp)) == [line]
    assert list(untrimmed(layer + tcp)) == [line]
    assert not list(untrimmed(trims + tcp.replace("false", "true") + ndp))
    assert not list(untrimmed('[queue]\ndiscipline = "fifo"\n' + tcp))


TREE = (
    BASE[: BASE.index("[topology")]
    + """
[topology.fat-tree]
k = 4
hosts_per_edge = 8
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "reno"
[[workload.poisson]]
transport = "t"
size = "10KB"
load = 0.25
"""
)


def test_a_plan_says_what_is_offered_to_each_tier(tmp_path: Path) -> None:
    """Once for all arms that offer the same: 64 hosts, 16 uplinks, 56 of 63 hosts elsewhere."""
    arms = 'arm = [{ name = "a" }, { name = "b", set.queue.limit = 30 }, '
    arms += '{ name = "c", set.workload.poisson.0.load = 0.5 }]'
    even, full, warning = said(tmp_path, arms, TREE)
    assert even.startswith(
        "a and b: offered load (payload over capacity): host->edge 0.25, edge->a"
    )
    assert full.startswith("c: offered load (payload over capacity): host->edge 0.50, edge->aggreg")
    assert "edge->aggregation 0.89" in even
    assert "edge->aggregation 1.78" in full
    assert warning.startswith("c: warning: edge->aggregation is offered 1.78 times what it carries")


def test_a_run_says_that_its_drain_is_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "base.toml"
    for drain, times in (("199ms", 1), ("200ms", 0)):
        file.write_text(BASE.replace('"300ms"', f'"{drain}"'), encoding="utf-8")
        app(["run", str(file), "--out", str(tmp_path / drain)], standalone_mode=False)
        line = "warning: a drain of 199ms is shorter than the min_rto of transport t, 200ms"
        assert capsys.readouterr().err.count(line) == times


STUDY = """
base = "base.toml"
measures = ["jain"]
arm = [{ name = "dctcp" }, { name = "reno", set.transport.t.control = "reno" }]
"""


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """Return the file of a study that has run."""
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    (tmp_path / "s.toml").write_text(STUDY, encoding="utf-8")
    run_study(Plan.of(Study.load(tmp_path / "s.toml"), tmp_path / "results"), jobs=1)
    return tmp_path / "s.toml"


def test_a_file_that_was_edited_is_named_with_its_keys(
    ran: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = StudyResult(ran.parent / "results" / "s")
    show = ["study", "show", str(ran), "--out", str(ran.parent / "results")]
    app(show, standalone_mode=False)
    assert capsys.readouterr().err == ""
    edited = STUDY.replace('control = "reno"', 'control = "lia"') + 'title = "x"\nseeds = 2\n'
    ran.write_text(edited.replace('measures = ["jain"]\n', ""), encoding="utf-8")
    assert changes(Study.load(ran), result) == [
        "measures was ['jain'], and is not there",
        "arm reno: set.transport.t.control is lia, was reno",
        "title is x, and was not there",
        "seeds is 2, and was not there",
    ]
    app(show, standalone_mode=False)
    printed = capsys.readouterr()
    assert "s.toml has changed since this study ran: measures was" in printed.err
    assert f"to run it as it is now: linkpool study run {ran}" in printed.err
    assert "reno" in printed.out, "the table is of the study as it ran"
    many = "".join(f'{{ name = "a{i}" }}, ' for i in range(9))
    ran.write_text(STUDY.replace("arm = [", f"arm = [{many}"), encoding="utf-8")
    assert changes(Study.load(ran), result)[-1] == "and 1 more"


def test_a_base_that_was_edited_is_named_with_its_keys(
    ran: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = StudyResult(ran.parent / "results" / "s")
    base = ran.parent / "base.toml"
    base.write_text(BASE.replace("mark = 20", "mark = 30"), encoding="utf-8")
    assert changes(Study.load(ran), result) == ["arm dctcp: queue.mark is 30, was 20"]
    # Only one arm has another scenario now.
    base.write_text(BASE.replace("[transport.t]", '[transport.t]\nmin_rto = "200ms"'), "utf-8")
    assert changes(Study.load(ran), result) == []
    base.write_text("nonsense = 1\n" + BASE, encoding="utf-8")
    app(["study", "show", str(ran), "--out", str(ran.parent / "results")], standalone_mode=False)
    assert "it cannot run as it is now: " in capsys.readouterr().err


def test_a_run_whose_result_is_gone_is_another_one(ran: Path) -> None:
    result = StudyResult(ran.parent / "results" / "s")
    for run in (ran.parent / "results" / "runs").iterdir():
        (run / "scenario.toml").unlink()
    base = ran.parent / "base.toml"
    base.write_text(BASE.replace("mark = 20", "mark = 30"), encoding="utf-8")
    assert changes(Study.load(ran), result) == ["the run of arm dctcp is another one"]


def test_another_build_is_named(ran: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = StudyResult(ran.parent / "results" / "s")
    monkeypatch.setattr("linkpool.study.cache.run_key", lambda _: "0" * 64)
    assert changes(Study.load(ran), result) == ["another build of linkpool made its runs"]


def test_a_plan_says_that_a_fabric_is_not_lossless(tmp_path: Path) -> None:
    """RoCE counts on that; headroom that is short and pauses that lapse make it false."""
    base = BASE.replace("mark = 20", "").replace('"dctcp"', '"roce"')
    arms = [
        '{ name = "drops" }',
        '{ name = "pauses", set = { queue.pfc.buffer = "1MB" } }',
        '{ name = "short", set = { queue.pfc.buffer = "1MB", queue.pfc.headroom = "5KB" } }',
        '{ name = "lapses", set = { queue.pfc.buffer = "1MB", queue.pfc.quanta = 20 } }',
    ]
    lines = said(tmp_path, f"arm = [{', '.join(arms)}]", base)
    drops, short, lapses = (
        [line for line in lines if line.startswith(name)] for name in ("drops", "short", "lapses")
    )
    assert not [line for line in lines if line.startswith("pauses")]
    assert "drops: the fabric is not lossless, as [queue] has no pfc: t (control" in drops[0]
    assert "packets can be lost at switch switches: the headroom of links from host" in short[0]
    assert "of 10 Gbit/s a pause may end before its frame is repeated" in lapses[0]


def test_arms_that_differ_in_their_transport_alone_are_told_apart(tmp_path: Path) -> None:
    """Only RoCE counts on a lossless fabric."""
    base = BASE.replace("mark = 20", "").replace('"dctcp"', '"roce"')
    arms = '{ name = "roce" }, { name = "tcp", set.transport.t.control = "reno" }'
    [line] = said(tmp_path, f"arm = [{arms}]", base)
    assert line.startswith("roce: the fabric is not lossless")


def test_runs_are_listed_by_what_no_other_has_too() -> None:
    points = [
        Point({"arm": arm, "workload.poisson.0.load": load}, "", 1)
        for arm in "abc"
        for load in (0.1, 0.3)
    ]
    at = {(point.keys["arm"], point.keys["workload.poisson.0.load"]): point for point in points}
    assert listed(points, points) == "each arm"
    assert listed([at["a", 0.1], at["b", 0.1], at["c", 0.1]], points) == "poisson load 0.1"
    assert listed([at["b", 0.1], at["b", 0.3]], points) == "b"
    two = listed([at["a", 0.1], at["b", 0.1]], points)
    assert two == "a, poisson load 0.1 and b, poisson load 0.1", "c has this load, too"
    assert listed([Point({"arm": "base"}, "", 1)], [Point({"arm": "base"}, "", 1)]) == "the base"


def test_ndp_where_no_port_trims_is_named() -> None:
    fifo = '[queue]\ndiscipline = "fifo"\n'
    ndp = '[transport.n]\ncontrol = "ndp"\nmin_rto = "1ms"\n'
    line = (
        "transport n is NDP and no port trims, so a full queue drops its packets, and each waits "
        'for min_rto, 1ms; write discipline = "trimming" in [queue]'
    )
    assert list(dropped(fifo + ndp)) == [line]
    assert line in doubts(fifo + ndp)
    assert not list(dropped(fifo + ndp.replace('"ndp"', '"dctcp"')))
    assert not list(dropped('[queue]\ndiscipline = "trimming"\n' + ndp))
    assert not list(dropped(fifo + '[queue.layer.edge]\ndiscipline = "trimming"\n' + ndp))
    classes = "[[queue.class]]\npriorities = [0]\ntrim = true\n"
    assert not list(dropped("[queue]\n" + classes + ndp))
    assert list(dropped("[queue]\n" + classes.replace("true", "false") + ndp)) == [line]


UET = """
duration = "1ms"
drain = "1s"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "100Gbps"
delay = "1us"
[queue]
discipline = "trimming"
limit = "116480B"
trimming = { headers = "232960B", mark_min = "23296B", mark_max = "93184B" }
[transport.u]
control = "uet"
[[workload.permutation]]
transport = "u"
size = "100KB"
"""


def test_what_makes_a_run_of_ultra_ethernet_doubtful() -> None:
    """As the scenario is written out, where other keys and defaults stand beside these."""

    def said(*changes: tuple[str, str]) -> list[str]:
        text = UET
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return doubts(_core.load(text, "mine.toml", None, [], run_code=False).toml)

    assert not said()
    control = 'control = "uet"'
    for kind in ("adaptive", "spray"):
        routed = said(("[queue]", f'[routing]\nkind = "{kind}"\n[queue]'))
        assert routed == [
            'transport u has balancer = "mixed", but switches with routing.kind = '
            f'"{kind}" choose links themselves and hash no value of a packet; with kind = "ecmp" '
            "they would"
        ]
    unmarked = said((', mark_min = "23296B", mark_max = "93184B"', ""))
    assert unmarked == [
        "no queue marks, and nscc of transport u goes by marks; write mark, or of queues that "
        "trim mark_min and mark_max"
    ]
    credit = (control, f"{control}\nreceiver_credit = true")
    (line,) = said(credit)
    assert line.startswith("receivers grant the credit of transport u, and links to hosts mark")
    assert not said(credit, ("[queue]", "[queue]\nmark_to_hosts = false"))
    (line,) = said(('limit = "116480B"', 'limit = "4159B"'))
    assert line == (
        "a packet of transport u has 4,160 B, and a queue that trims holds 4,159 B: each packet "
        "that waits is trimmed; raise limit"
    )
    assert not said(('limit = "116480B"', 'limit = "4160B"'))
    (line,) = said((control, f'{control}\nrto = "9us"'))
    assert line.startswith("the rto of transport u, 9us, is no more than its base_rtt, 9")
    assert not said((control, f'{control}\nrto = "10us"'))
    tcp = (control, 'control = "dctcp"\npaths = "reps"\ntrimming = true\nmss = "1460B"')
    (line,) = said(tcp, ("[queue]", '[routing]\nkind = "drill"\n[queue]'))
    assert line.startswith('transport u has paths = "reps", but switches with routing.kind =')
    assert not said(tcp)

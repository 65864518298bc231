"""A program in Python drives a run."""

import asyncio
import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import linkpool
from linkpool import Answer, Event, Scenario, Session, Timer, _core
from linkpool.cli import app
from linkpool.session import EVENTS, WHAT, What

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "workloads" / "session.toml"
US = 1_000_000

STAR = """
duration = "10ms"
drain = "1s"
[topology.many-to-one]
senders = 3
rate = "10Gbps"
delay = "1us"
[transport.t]
control = "dctcp"
[[workload.session]]
transport = "t"
"""

pytestmark = pytest.mark.core


def star(more: str = "") -> Scenario:
    return Scenario(STAR + more)


def test_a_message_takes_the_time_of_its_links() -> None:
    """1,000 B with 40 B of headers and 1 us: twice to the receiver; its ACK of 40 B comes back."""
    more = 'persistent = false\n[[workload.session]]\ntransport = "t"\nlabel = "second"\n'
    with Session(star(more), threads=1) as session:
        assert session.channels == ("session", "second")
        assert session.hosts == ("S1", "S2", "S3", "R")
        assert session.lookahead_ps > 0
        first = session.send("S1", "R", 1_000, tag=7)
        assert session.drain()
        delivered, acked = session.events()
        assert (delivered.what, acked.what) == ("delivered", "acked")
        assert delivered.message == acked.message == first
        assert (delivered.source, delivered.destination, delivered.tag) == (0, 3, 7)
        # A connection that is open has no handshake.
        start = session.now_ps
        session.send(0, 3, 1_000, channel="second")
        assert session.drain()
        again = session.events()[0].at_ps - start
        session.send(0, 3, 1_000, channel=1)
        start = session.now_ps
        assert session.drain()
        alone = session.events()[0].at_ps - start
    assert again == delivered.at_ps
    assert 2 * US < alone < again - 4 * US


def test_time_passes_as_asked() -> None:
    with Session(star(), threads=1) as session:
        session.send(0, 3, 5_000, at_ps=20 * US)
        assert not session.step(5 * US)
        assert session.now_ps == 5 * US
        session.advance_to(6 * US)
        assert session.now_ps == 6 * US
        assert session.poll() is None
        assert session.step()
        event = session.poll()
        assert event is not None
        assert event.sent_ps == 20 * US
        assert event.at_ps < session.now_ps <= event.at_ps + session.lookahead_ps
        assert session.open_messages == 1
        assert [event.what for event in session] == ["acked"]
        assert session.open_messages == 0
        with pytest.raises(ValueError, match="is past: it is"):
            session.advance_to(1)
        with pytest.raises(ValueError, match="after the end of the scenario"):
            session.advance_to(session.end_ps + 1)


def test_many_messages_are_arrays() -> None:
    with Session(star(), threads=1) as session:
        sizes = np.array([1_000, 2_000, 3_000])
        numbers = session.send_many([0, 1, 2], 3, sizes, tag=np.arange(3), at_ps=5 * US)
        assert len(set(numbers.tolist())) == 3
        assert session.send_many([], 3, 1).tolist() == []
        assert session.drain()
        events = session.event_array()
        assert events.dtype == EVENTS
        assert sorted(events["tag"].tolist()) == [0, 0, 1, 1, 2, 2]
        assert (np.diff(events["at_ps"].astype(int)) >= 0).all()
        assert set(events["what"].tolist()) == {WHAT.index("delivered"), WHAT.index("acked")}
        assert (events["sent_ps"] == 5 * US).all()
        for wrong in ([-1, 0, 0], [0.5, 1, 1], [0, 1, 9]):
            with pytest.raises(ValueError, match=r"source: an array|9 is no host"):
                session.send_many(wrong, 3, sizes)


def test_answers_come_at_the_instant_of_an_event(tmp_path: Path) -> None:
    """A message goes back and forth, and each begins when the one before has arrived."""
    seen: list[Event] = []

    def react(event: Event) -> list[Answer] | None:
        seen.append(event)
        if event.what == "delivered" and event.tag:
            return [Answer(event.source, event.bytes, tag=event.tag - 1, after_ps=3)]
        return None

    out = tmp_path / "out"
    with Session(PAGE, react=react, threads=2, out=out) as session:
        session.send("h0", "h12", 20_000, tag=5)
        assert session.drain()
        delivered = [event for event in session.events() if event.what == "delivered"]
    assert [event.tag for event in delivered] == [5, 4, 3, 2, 1, 0]
    for before, after in itertools.pairwise(delivered):
        assert after.sent_ps == before.at_ps + 3
        assert (after.source, after.destination) == (before.destination, before.source)
    assert len(seen) == 12
    again = linkpool.run(out / "scenario.toml")
    assert again.flows.equals(linkpool.Result(out).flows)

    def fail(event: Event) -> None:
        raise LookupError(event.what)

    def drive() -> None:
        with Session(PAGE, react=fail, out=tmp_path / "failed") as session:
            session.send("h0", "h12", 20_000)
            session.drain()

    with pytest.raises(LookupError, match="delivered"):
        drive()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_timers_are_due_at_their_instant() -> None:
    """Set by the program, by hosts for themselves at the instant, and for others a lookahead on."""

    def react(event: Event) -> list[Answer | Timer] | None:
        if event.what == "timer" and event.tag == 1:
            return [Timer(0, tag=2), Answer("R", 1_000, tag=3)]
        if event.what == "delivered":
            return [Timer(0, tag=4), Timer(session.lookahead_ps, tag=5, host=event.source)]
        if event.what == "acked":
            return [Timer(7, tag=6)]
        return None

    with Session(star(), react=react) as session:
        session.timer("S2", 5 * US, tag=1)
        session.timer("S1", 5 * US + 1, tag=(1 << 64) - 1)
        assert (session.open_timers, session.open_messages) == (2, 0)
        events = list(session)
        assert (session.open_timers, session.open_messages) == (0, 0)
    timers = [(e.tag, e.at_ps, e.source, e.destination) for e in events if e.what == "timer"]
    delivered, acked = (next(e.at_ps for e in events if e.what == what) for what in WHAT[:2])
    s1, s2, r = 0, 1, 3
    assert timers == [
        (1, 5 * US, s2, s2),
        (2, 5 * US, s2, s2),
        ((1 << 64) - 1, 5 * US + 1, s1, s1),
        (4, delivered, r, r),
        (5, delivered + session.lookahead_ps, r, s2),
        (6, acked + 7, s2, s2),
    ]
    assert {event.bytes for event in events if event.what == "timer"} == {0}


def test_timers_that_cannot_be_set_are_said() -> None:
    def react(event: Event) -> list[Timer]:
        return [Timer(0, host="S1")]

    with Session(star()) as session:
        session.advance_to(5)
        wrong: list[tuple[str | int, int, int, str]] = [
            ("x", 5, 0, "'x' is no host"),
            ("S1", 4, 0, "is past"),
            ("S1", session.end_ps, 0, "not before the end"),
            ("S1", 5, -1, "tag"),
        ]
        for host, at, tag, why in wrong:
            with pytest.raises(ValueError, match=why):
                session.timer(host, at, tag=tag)
        assert session.open_timers == 0

    def drive() -> None:
        with Session(star(), react=react) as session:
            session.timer("R", 5)
            session.drain()

    with pytest.raises(ValueError, match="as nothing reaches it sooner"):
        drive()


def test_asyncio_is_not_held_up() -> None:
    async def drive() -> tuple[list[What], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(tick())
        with Session(star()) as session:
            session.send(0, 3, 3_000_000)
            whats = [event.what async for event in session]
        task.cancel()
        return whats, ticks

    whats, ticks = asyncio.run(drive())
    assert whats == ["delivered", "acked"]
    assert ticks > 2


def test_a_result_is_as_of_any_run(tmp_path: Path) -> None:
    """It can be run again, and its flows explained, without the program."""
    out = tmp_path / "out"
    with Session(star("persistent = false\n"), out=out, seed=3) as session:
        numbers = [
            session.send(host, "R", 200_000 * (host + 1), tag=7 << host * 30) for host in range(3)
        ]
        session.drain()
        events = session.events()
        result = session.close()
    assert result is not None
    flows = result.flows.sort("flow")
    assert flows["flow"].to_list() == sorted(numbers)
    delivered = {event.message: event.at_ps for event in events if event.what == "delivered"}
    for number, at in flows.select("flow", "delivered_s").iter_rows():
        assert round(at * 1e12) == delivered[number]
    again = linkpool.run(out / "scenario.toml", out=tmp_path / "again", threads=2)
    assert again.flows.equals(result.flows)
    assert "200 KB from S1 to R" in str(result.explain(numbers[0]))
    # A run without the program has nothing to send.
    with pytest.raises(linkpool.SimulationError, match="a program sends its messages"):
        linkpool.run(PAGE, out=tmp_path / "undriven")
    with pytest.raises(linkpool.SimulationError, match="the scenario has none without `file`"):
        Session(out / "scenario.toml")
    # Tags are kept, in the order of the numbers of flows, and in a run that is made again.
    for kept in (out, tmp_path / "again"):
        tags = pl.read_csv(kept / "messages.0.csv", schema_overrides={"tag": pl.UInt64})["tag"]
        assert tags.to_list() == [7, 7 << 30, 7 << 60]
    text = (out / "messages.0.csv").read_text(encoding="utf-8")
    (out / "messages.0.csv").write_text(text.replace("200000", "200001"), encoding="utf-8")
    with pytest.raises(linkpool.ScenarioError, match="it is another trace than"):
        linkpool.check(out / "scenario.toml")


def test_tables_of_the_c_library_become_a_result(tmp_path: Path) -> None:
    """The C library writes what the core writes: a result without manifest."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "linkpool", "seal", str(out)]

    def seal() -> tuple[int, str]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    assert seal() == (2, f"{out} holds no tables of a session that was closed\n")
    core = _core.Session(star().loaded(None, run_code=True), str(out), 1, None)
    core.send([(0, 3, 200_000, 9, 0, 0)])
    core.drain()
    assert core.close(keep=True)
    code, said = seal()
    assert code == 0, said
    result = linkpool.Result(out)
    assert result.flows.height == 1
    assert result.summary.as_dict()
    assert "200 KB from S1 to R" in str(result.explain(result.flows["flow"][0]))
    assert seal() == (2, f"{out} is a result already\n")


def test_what_cannot_be_sent_is_said(tmp_path: Path) -> None:
    session = Session(star(), out=tmp_path / "out")
    wrong: list[tuple[tuple[object, object, object], dict[str, object], str]] = [
        (("S9", "R", 1), {}, r"'S9' is no host; they are S1, S2, S3, R"),
        ((4, "R", 1), {}, "4 is no host; they are 0 to 3"),
        (("R", "R", 1), {}, "host R would send to itself"),
        (("S1", "R", -1), {}, "bytes: -1 is not a whole number"),
        (("S1", "R", 1.5), {}, "bytes: 1.5 is not a whole number"),
        (("S1", "R", 1), {"tag": 1 << 64}, "tag: .* is not a whole number"),
        (("S1", "R", 1), {"channel": 1}, "1 is no channel; they are 0 to 0"),
        (("S1", "R", 1), {"channel": "x"}, "'x' is no channel; they are session"),
        (("S1", "R", 1), {"at_ps": session.end_ps}, "is not before the end"),
    ]
    for ends, more, match in wrong:
        with pytest.raises(ValueError, match=match):
            session.send(*ends, **more)  # type: ignore[arg-type]
    with pytest.raises(linkpool.NotAResultError):
        Session(star(), out=tmp_path / "out")
    session.close()
    with pytest.raises(ValueError, match="the session is closed"):
        session.send(0, 3, 1)
    with pytest.raises(linkpool.SimulationError, match="leave `until` out"):
        Session(star('[until]\nlabel = "session"\nflows = 1\n'))


@pytest.mark.long
def test_the_page_shows_what_its_program_prints(tmp_path: Path) -> None:
    program = PAGE.with_suffix(".py")
    page = PAGE.with_suffix(".md").read_text(encoding="utf-8")
    assert f"```python\n{program.read_text(encoding='utf-8')}```" in page
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"```text\n{done.stdout}```" in page
    flows = linkpool.Result(tmp_path / "out").flows
    assert flows.filter(pl.col("label") == "kv").height == 30


def test_a_run_without_the_program_is_refused_as_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "undriven"
    with pytest.raises(SystemExit) as left:
        app(["run", str(PAGE), "--out", str(out)], standalone_mode=False)
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith(f"{PAGE}: workload.session.0: a program sends")
    assert not out.exists()

"""A run that a program drives: it sends messages meanwhile, and learns what becomes of them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from linkpool import _core, manifest
from linkpool.identity import run_key
from linkpool.limits import require_room, require_threads
from linkpool.loading import Value, load, overrides, read_text
from linkpool.publish import publish, seal
from linkpool.result import Result
from linkpool.scenario import Scenario

What: TypeAlias = Literal["delivered", "acked", "given-up", "timer"]

WHAT: tuple[What, ...] = ("delivered", "acked", "given-up", "timer")

_AT_DESTINATION: tuple[What, ...] = ("delivered", "timer")

EVENTS = np.dtype(
    [
        ("at_ps", np.uint64),
        ("what", np.uint8),
        ("message", np.uint32),
        ("source", np.uint32),
        ("destination", np.uint32),
        ("bytes", np.uint64),
        ("tag", np.uint64),
        ("sent_ps", np.uint64),
    ]
)
"""The columns of `Session.event_array`; `what` is a place in `WHAT`."""


@dataclass(frozen=True, slots=True)
class Event:
    """What has happened to a message, or that a timer is due.

    Attributes:
        at_ps: when, in picoseconds of simulated time.
        what: `"delivered"`: all its bytes have arrived, in order; `"acked"`: its sender knows;
            `"given-up"`: its sender has given up; `"timer"`: a timer is due.
        message: the number of the message, which is that of its flow in the results.
        source: the index of the host that sends it, or sets the timer.
        destination: the index of the host that receives it, or at which the timer is due.
        bytes: its size; 0 of a timer.
        tag: what the program has given with it.
        sent_ps: when its sender got it; when the timer was due.

    >>> with Session("docs/workloads/session.toml") as session:
    ...     number = session.send("h0", "h1", 1_000, tag=7)
    ...     last = list(session)[-1]
    >>> last.what, last.message == number, last.tag
    ('acked', True, 7)

    """

    at_ps: int
    what: What
    message: int
    source: int
    destination: int
    bytes: int
    tag: int
    sent_ps: int


@dataclass(frozen=True, slots=True)
class Answer:
    """A message that the host of an event sends at the instant of the event, or later.

    Attributes:
        destination: name or index of the host that receives it.
        bytes: its size.
        tag: any number from 0 to 2^64 - 1; the events of the message have it.
        after_ps: how long after the event, in picoseconds.
        channel: label or place of the `[[workload.session]]` with its transport.

    >>> def react(event: Event) -> list[Answer]:
    ...     again = event.what == "delivered" and event.tag > 0
    ...     return [Answer(event.source, event.bytes, tag=event.tag - 1)] if again else []
    >>> with Session("docs/workloads/session.toml", react=react) as session:
    ...     number = session.send("h0", "h1", 1_000, tag=3)
    ...     [event.source for event in session if event.what == "delivered"]
    [0, 1, 0, 1]

    """

    destination: str | int
    bytes: int
    tag: int = 0
    after_ps: int = 0
    channel: str | int = 0


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer that the host of an event sets at the instant of the event.

    Attributes:
        after_ps: how long after the event it is due, in picoseconds.
        tag: any number from 0 to 2^64 - 1; its event has it.
        host: name or index of the host at which it is due; None: that of the event. At another
            host it is due `Session.lookahead_ps` after the event, or later.

    >>> def react(event: Event) -> list[Timer]:
    ...     return [Timer(1_000, tag=event.tag - 1)] if event.tag > 0 else []
    >>> with Session("docs/workloads/session.toml", react=react) as session:
    ...     session.timer("h3", 5_000, tag=2)
    ...     [(event.at_ps, event.what, event.tag) for event in session]
    [(5000, 'timer', 2), (6000, 'timer', 1), (7000, 'timer', 0)]

    """

    after_ps: int
    tag: int = 0
    host: str | int | None = None


React: TypeAlias = Callable[[Event], "Iterable[Answer | Timer] | None"]


class Session:
    """A run that a program drives. Times are picoseconds of simulated time.

    All that is due before the clock, `now_ps`, has happened. An event is known when the clock has
    passed it. A program that has to answer an event at its own instant gives `react`.

    Args:
        scenario: path of a TOML file, or a `Scenario`. It has a `[[workload.session]]`: the
            transport of the messages.
        out: directory for the result, as of `linkpool.run`. None: there is no result.
        seed: replaces the scenario's seed.
        set: keys of the scenario to replace.
        threads: of the simulation; None: as many as are worthwhile.
        react: called with each event at its instant; returns what the host of the event sends
            then, and the timers that it sets: of `"delivered"` the receiving host, of `"timer"`
            the one at which it is due, else the sending one. With several threads
            events of different hosts may come in any order within a lookahead.
        ignore_estimate: open it even if it needs more memory or disk than there is.

    Raises:
        ScenarioError: the scenario cannot run.
        SimulationError: no session can drive the scenario.
        NotAResultError: `out` holds something that linkpool did not write.

    >>> scenario = "docs/workloads/session.toml"
    >>> with Session(scenario) as session:
    ...     number = session.send("h0", "h12", 64_000)
    ...     for event in session:
    ...         print(event.what, event.at_ps // 1_000_000, "us")
    delivered 25 us
    acked 28 us

    """

    def __init__(
        self,
        scenario: str | Path | Scenario,
        *,
        out: str | Path | None = None,
        seed: int | None = None,
        set: Mapping[str, Value] | None = None,  # noqa: A002
        threads: int | None = 1,
        react: React | None = None,
        ignore_estimate: bool = False,
    ) -> None:
        """Open it, at time 0."""
        require_threads(threads)
        if isinstance(scenario, Scenario):
            loaded = scenario.set(set or {}).loaded(seed, run_code=True)
        else:
            loaded = load(scenario, seed=seed, overrides=overrides(set), run_code=True)
        target = None if out is None else Path(out).absolute()
        answer = None if react is None else self._answer
        self._react = react
        self._target = target
        self._closed = False
        self._result: Result | None = None
        with ExitStack() as stack:
            where = None
            if target is not None:
                where = str(stack.enter_context(publish(target, _key)))
                if not ignore_estimate:
                    require_room(loaded, target)
            self._core = _core.Session(loaded, where, threads, answer)
            self._stack = stack.pop_all()
        self.hosts: tuple[str, ...] = tuple(self._core.hosts)
        """The names of the hosts, by index."""
        self.channels: tuple[str, ...] = tuple(self._core.channels)
        """The labels of the workloads of kind `session`, by place."""
        self.end_ps: int = self._core.end
        """The end of the scenario: its duration and drain."""
        self.lookahead_ps: int = self._core.lookahead
        """The least time that anything takes from one host to another."""
        self._index = {name: index for index, name in enumerate(self.hosts)}

    @property
    def now_ps(self) -> int:
        """The clock: all that is due before has happened."""
        return self._core.now

    @property
    def open_messages(self) -> int:
        """How many messages have not ended, as far as events are known."""
        return self._core.open_messages

    @property
    def open_timers(self) -> int:
        """How many timers have not been due, as far as events are known."""
        return self._core.open_timers

    def host(self, host: str | int) -> int:
        """Return the index of a host.

        Raises:
            ValueError: there is no such host.

        """
        if isinstance(host, str):
            if host not in self._index:
                raise ValueError(f"{host!r} is no host; they are {_some(self.hosts)}")
            return self._index[host]
        if not 0 <= host < len(self.hosts):
            raise ValueError(f"{host} is no host; they are 0 to {len(self.hosts) - 1}")
        return int(host)

    def channel(self, channel: str | int) -> int:
        """Return the place of a channel: of a workload of kind `session`.

        Raises:
            ValueError: there is no such channel.

        """
        if isinstance(channel, str):
            if channel not in self.channels:
                raise ValueError(f"{channel!r} is no channel; they are {_some(self.channels)}")
            return self.channels.index(channel)
        if not 0 <= channel < len(self.channels):
            raise ValueError(f"{channel} is no channel; they are 0 to {len(self.channels) - 1}")
        return int(channel)

    def send(
        self,
        source: str | int,
        destination: str | int,
        bytes: int,  # noqa: A002
        *,
        tag: int = 0,
        at_ps: int | None = None,
        channel: str | int = 0,
    ) -> int:
        """Send a message, and return its number: that of its flow in the results.

        Args:
            source: name or index of the host that sends it.
            destination: name or index of another host.
            bytes: its size. One of 0 bytes takes a packet with one byte.
            tag: any number from 0 to 2^64 - 1; the events of the message have it.
            at_ps: when the host gets it; None: now.
            channel: label or place of the `[[workload.session]]` with its transport.

        Raises:
            ValueError: it cannot be sent, and why.

        """
        at = self.now_ps if at_ps is None else _whole("at_ps", at_ps)
        sizes = (_whole("bytes", bytes), _whole("tag", tag))
        ends = (self.host(source), self.host(destination))
        return self._core.send([(*ends, *sizes, at, self.channel(channel))])[0]

    def send_many(
        self,
        source: npt.ArrayLike,
        destination: npt.ArrayLike,
        bytes: npt.ArrayLike,  # noqa: A002
        *,
        tag: npt.ArrayLike = 0,
        at_ps: npt.ArrayLike | None = None,
        channel: str | int = 0,
    ) -> npt.NDArray[np.uint32]:
        """Send messages, of which arrays have the indices of hosts, sizes, tags and times.

        Arrays of one element are for all messages. Returns the numbers of the messages.

        Raises:
            ValueError: the shapes or types do not fit, or a message cannot be sent: those before
                it are sent.

        """
        at = self.now_ps if at_ps is None else at_ps
        named = {
            "source": source,
            "destination": destination,
            "bytes": bytes,
            "tag": tag,
            "at_ps": at,
        }
        arrays = np.broadcast_arrays(*(_numbers(name, values) for name, values in named.items()))
        columns = [array.ravel().tolist() for array in arrays]
        for hosts in columns[:2]:
            if hosts and max(hosts) >= len(self.hosts):
                self.host(max(hosts))
        rows = zip(*columns, [self.channel(channel)] * len(columns[0]), strict=True)
        return np.array(self._core.send(list(rows)), dtype=np.uint32)

    def timer(self, host: str | int, at_ps: int, *, tag: int = 0) -> None:
        """Set a timer: there is an event at a host at a time.

        Args:
            host: name or index of the host.
            at_ps: when it is due: now or later.
            tag: any number from 0 to 2^64 - 1; its event has it.

        Raises:
            ValueError: it cannot be set, and why.

        """
        self._core.set_timers([(self.host(host), _whole("tag", tag), _whole("at_ps", at_ps))])

    def advance_to(self, to_ps: int) -> None:
        """Let time pass to `to_ps`: all that is due before happens.

        Raises:
            ValueError: it is past, or after the end of the scenario.
            SimulationError: the run could not go on; it is closed.

        """
        self._core.advance_to(_whole("to_ps", to_ps))

    def step(self, to_ps: int | None = None) -> bool:
        """Let time pass until there is an event, or to `to_ps` (None: the end).

        The clock is then at most `lookahead_ps` beyond the event. Returns whether there is one.

        Raises:
            ValueError: `to_ps` is past, or after the end of the scenario.
            SimulationError: the run could not go on; it is closed.

        """
        return self._core.step(self.end_ps if to_ps is None else _whole("to_ps", to_ps))

    def drain(self) -> bool:
        """Let time pass until nothing is left, or to the end of the scenario.

        Returns whether nothing is left: every message has ended, and every timer has been due.

        Raises:
            SimulationError: the run could not go on; it is closed.

        """
        return self._core.drain()

    def poll(self) -> Event | None:
        """Take the first event that is known, if there is one."""
        told = self._core.poll()
        return None if told is None else _event(told)

    def events(self) -> list[Event]:
        """Take all events that are known, in order of time."""
        return [_event(told) for told in self._core.events()]

    def event_array(self) -> npt.NDArray[Any]:
        """Take all events that are known, in order of time, as an array of `EVENTS`."""
        return np.array(self._core.events(), dtype=EVENTS)

    def __iter__(self) -> Iterator[Event]:
        """Yield events, and let time pass for them, until no message and no timer is open.

        The body may send more.
        """
        while True:
            event = self.poll()
            if event is not None:
                yield event
            elif self._is_idle() or not self.step():
                return

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield events as `__iter__` does; time passes on a thread of its own."""
        while True:
            event = self.poll()
            if event is not None:
                yield event
            elif self._is_idle() or not await asyncio.to_thread(self.step):
                return

    def close(self) -> Result | None:
        """End the run at the clock. Returns its result, if `out` names a place for it.

        Closing it again changes nothing.

        Raises:
            OSError: a file cannot be written.
            SimulationError: the run could not go on before.

        """
        if self._closed:
            return self._result
        self._closed = True
        with self._stack:
            if not self._core.close(keep=True):
                raise _core.SimulationError("the run could not go on, and has no result")
        if self._target is not None:
            self._result = Result(self._target, run_code=True)
        return self._result

    def __enter__(self) -> "Session":
        """Return the session itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it. After an exception there is no result."""
        if error is None:
            self.close()
        else:
            self._core.close(keep=False)
            self._stack.__exit__(kind, error, traceback)

    def _is_idle(self) -> bool:
        return self.open_messages == 0 and self.open_timers == 0

    def _answer(self, told: tuple[int, int, int, int, int, int, int, int]) -> list[Any] | None:
        event = _event(told)
        answers = self._react(event) if self._react is not None else None
        return None if answers is None else [self._row(event, answer) for answer in answers]

    def _row(self, event: Event, answer: Answer | Timer) -> tuple[int, int, int, int, int | None]:
        at = event.at_ps + _whole("after_ps", answer.after_ps)
        if isinstance(answer, Timer):
            of_event = event.destination if event.what in _AT_DESTINATION else event.source
            host = of_event if answer.host is None else self.host(answer.host)
            return (host, 0, _whole("tag", answer.tag), at, None)
        sizes = (_whole("bytes", answer.bytes), _whole("tag", answer.tag))
        return (self.host(answer.destination), *sizes, at, self.channel(answer.channel))


def seal_tables(directory: Path) -> Result:
    """Make a result of the tables that the C library has written: add the manifest.

    Raises:
        ValueError: it holds no complete tables, or is a result already; or one of them is damaged.

    """
    if (directory / manifest.NAME).exists():
        raise ValueError(f"{directory} is a result already")
    # What a run writes last.
    if not (directory / "run.json").is_file():
        raise ValueError(f"{directory} holds no tables of a session that was closed")
    Result(directory).check()
    seal(directory, _key(directory))
    return Result(directory, run_code=True)


def _event(told: tuple[int, int, int, int, int, int, int, int]) -> Event:
    at, what, *message = told
    return Event(at, WHAT[what], *message)


def _whole(name: str, value: int) -> int:
    number = int(value)
    if number != value or not 0 <= number < 1 << 64:
        raise ValueError(f"{name}: {value!r} is not a whole number from 0 to 2^64 - 1")
    return number


def _numbers(name: str, values: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    array = np.asarray(values)
    if array.size == 0:
        return array.astype(np.uint64)
    if array.dtype.kind not in "iu" or (array.dtype.kind == "i" and (array < 0).any()):
        raise ValueError(f"{name}: an array of whole numbers from 0 on is needed")
    return array.astype(np.uint64)


def _some(names: tuple[str, ...]) -> str:
    most = 4
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _key(directory: Path) -> str:
    scenario = directory / "scenario.toml"
    return run_key(_core.load(read_text(scenario), str(scenario), None, [], run_code=True))

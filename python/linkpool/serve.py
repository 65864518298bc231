"""A session for a program in another process: frames of JSON over two streams.

The protocol is `simllm-htsim-flow-session-v1` of simllm (docs/modules/backends.md there), told in
our words in docs/serve.md. A frame is the length as 32 bits, the highest byte first, and as many
bytes of canonical JSON.
"""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from linkpool import _core
from linkpool.scenario import Scenario
from linkpool.session import Event, Session
from linkpool.units import counted

SCHEMA: Final = "simllm-htsim-flow-session-v1"

MOST_BYTES: Final = 1 << 20
"""No request is longer."""

MOST_MESSAGES: Final = 1 << 24
"""No session has more messages."""

Object: TypeAlias = dict[str, Any]

_TEXT, _NUMBER = str, int

_FIELDS: Final[dict[str, dict[str, type]]] = {
    "open": {
        "session_id": _TEXT,
        "profile": _TEXT,
        "topology_identity": _TEXT,
        "node_count": _NUMBER,
        "link_rate_bps": _NUMBER,
        "seed": _NUMBER,
        "effective_hardware_sha256": _TEXT,
        "wqe_authority": _TEXT,
    },
    "inject": {
        "sequence": _NUMBER,
        "execution_id": _TEXT,
        "operation_id": _TEXT,
        "flow_id": _TEXT,
        "source": _NUMBER,
        "destination": _NUMBER,
        "tag": _NUMBER,
        "payload_bytes": _NUMBER,
        "eligible_at_ps": _NUMBER,
        "policy_context_token": _TEXT,
    },
    "timer": {"timer_id": _TEXT, "host": _NUMBER, "tag": _NUMBER, "due_at_ps": _NUMBER},
    "advance": {"through_sequence": _NUMBER, "through_ps": _NUMBER},
    "drain": {"through_sequence": _NUMBER},
    "close": {"through_sequence": _NUMBER},
}
"""Of each verb, the fields that its requests have beside `schema` and `verb`."""

_PHASES: Final = ("accepted", "queued", "started", "completed")


class ProtocolError(ValueError):
    """A request that the protocol does not allow; nothing follows it.

    Attributes:
        code: a short name of the reason.

    """

    def __init__(self, code: str, message: str) -> None:
        """Make one."""
        super().__init__(message)
        self.code = code


def canonical(content: Object) -> bytes:
    """Write canonical JSON: UTF-8, keys ascending, no spaces."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def write_frame(stream: BinaryIO, content: Object) -> None:
    """Write a frame."""
    body = canonical(content)
    stream.write(struct.pack(">I", len(body)) + body)
    stream.flush()


def read_frame(stream: BinaryIO) -> Object | None:
    """Read a frame; None: the stream has ended before it.

    Raises:
        ProtocolError: it is cut off, too long, or no canonical JSON object.

    """
    head = _read(stream, 4)
    if not head:
        return None
    if len(head) < 4:
        raise ProtocolError("truncated-frame", "the stream ends within the length of a frame")
    (length,) = struct.unpack(">I", head)
    if length > MOST_BYTES:
        raise ProtocolError("frame-too-large", f"a frame of {length:,} B; at most {MOST_BYTES:,}")
    body = _read(stream, length)
    if len(body) < length:
        raise ProtocolError("truncated-frame", f"the stream ends after {len(body)} of {length} B")
    try:
        content = json.loads(
            body, object_pairs_hook=_object, parse_float=_no_number, parse_constant=_no_number
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, ProtocolError):
            raise
        raise ProtocolError("not-json", f"a frame is no JSON in UTF-8: {error}") from None
    if not isinstance(content, dict):
        raise ProtocolError("not-an-object", "a frame holds one JSON object")
    if canonical(content) != body:
        raise ProtocolError("not-canonical", "keys ascend, and nothing stands between tokens")
    return content


def _read(stream: BinaryIO, length: int) -> bytes:
    parts, left = [], length
    while left > 0 and (part := stream.read(left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _object(pairs: list[tuple[str, Any]]) -> Object:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ProtocolError("duplicate-key", "a key stands twice in an object")
    return content


def _no_number(text: str) -> None:
    raise ProtocolError("not-an-integer", f"{text}: numbers are whole")


class Server:
    """The state of one session, and what each verb does to it.

    Args:
        scenario: the scenario of the session.
        profile: the name that the client has to ask for.
        out: directory for the result; None: there is none.
        run_code: run the code in Python that the scenario brings.

    """

    def __init__(
        self, scenario: Scenario, profile: str, out: Path | None, run_code: bool = False
    ) -> None:
        """Begin before the first frame."""
        self._scenario = scenario
        self._profile = profile
        self._out = out
        self._run_code = run_code
        self._session: Session | None = None
        self._injected: list[Object] = []
        self._by_message: dict[int, int] = {}
        self._timers: list[str] = []
        self._through_ps = -1
        self._rows: list[tuple[int, int, int]] = []
        self._completed: list[Object] = []
        self._drained = False
        self.closed = False

    def serve(self, requests: BinaryIO, answers: BinaryIO) -> bool:
        """Answer requests until the session is closed; return whether no error ended it."""
        verb = ""
        try:
            while not self.closed:
                request = read_frame(requests)
                if request is None:
                    raise ProtocolError("end-of-stream", "the stream ends before the session")
                verb = str(request.get("verb", ""))
                write_frame(answers, self.answer(request))
        except (ProtocolError, _core.SimulationError, _core.ScenarioError, OSError) as error:
            code = error.code if isinstance(error, ProtocolError) else "run-failed"
            write_frame(
                answers,
                {
                    "schema": SCHEMA,
                    "verb": verb,
                    "status": "error",
                    "code": code,
                    "message": str(error),
                    "counters": self._counters(),
                    "terminal": True,
                },
            )
            if self._session is not None:
                self._session.__exit__(type(error), error, None)
            return False
        return True

    def answer(self, request: Object) -> Object:
        """Do what one request asks for, and return the answer.

        Raises:
            ProtocolError: it is not allowed.

        """
        verbs: dict[str, Callable[[Object], Object]] = {
            "open": self._open,
            "inject": self._inject,
            "timer": self._timer,
            "advance": self._advance,
            "drain": self._drain,
            "close": self._close,
        }
        if request.get("schema") != SCHEMA:
            raise ProtocolError("unknown-schema", f"schema: {SCHEMA!r} is spoken here")
        verb = request.get("verb")
        if not isinstance(verb, str) or verb not in verbs:
            raise ProtocolError("unknown-verb", f"verb: one of {', '.join(verbs)}")
        _check_fields(request, _FIELDS[verb])
        if verb != "open" and self._session is None:
            raise ProtocolError("not-open", "the first frame opens the session")
        return {"schema": SCHEMA, "verb": verb, "status": "ok", **verbs[verb](request)}

    def _open(self, request: Object) -> Object:
        if self._session is not None:
            raise ProtocolError("already-open", "the session is open")
        seed = request["seed"]
        if seed >= 1 << 63:
            raise ProtocolError("seed", "seed: from 0 to 2^63 - 1")
        loaded = self._scenario.loaded(seed, self._run_code)
        plan = loaded.plan()
        hosts = plan["hosts"]
        rates = sorted({rate for source, _, rate, _ in plan["links"] if source < hosts})
        expected = {
            "profile": self._profile,
            "topology_identity": f"{self._profile}:nodes={hosts}",
            "node_count": hosts,
        }
        for key, value in expected.items():
            if request[key] != value:
                raise ProtocolError("configuration", f"{key}: it is {value!r} here")
        if rates != [request["link_rate_bps"]]:
            some = ", ".join(str(rate) for rate in rates)
            raise ProtocolError("configuration", f"link_rate_bps: links of hosts have {some}")
        self._session = Session(self._scenario, seed=seed, out=self._out)
        return {"sequence": 0, **{key: request[key] for key in _FIELDS["open"]}}

    def _inject(self, request: Object) -> Object:
        session = self._require_open()
        if self._drained:
            raise ProtocolError("drained", "nothing is injected after drain")
        if request["sequence"] != len(self._injected) + 1:
            raise ProtocolError("sequence", f"sequence: {len(self._injected) + 1} is next")
        if len(self._injected) >= MOST_MESSAGES:
            raise ProtocolError("too-many", f"a session has at most {MOST_MESSAGES:,} messages")
        at = request["eligible_at_ps"]
        if at <= self._through_ps:
            raise ProtocolError("past", f"eligible_at_ps: above {self._through_ps}, the last")
        if request["tag"] >= 1 << 32:
            raise ProtocolError("tag", "tag: 32 bits")
        if request["payload_bytes"] == 0:
            raise ProtocolError("payload", "payload_bytes: above 0")
        sequence = len(self._injected) + 1
        try:
            message = session.send(
                request["source"],
                request["destination"],
                request["payload_bytes"],
                tag=request["tag"],
                at_ps=at,
            )
        except ValueError as error:
            raise ProtocolError("message", str(error)) from None
        self._injected.append(request)
        self._by_message[message] = sequence
        now = max(self._through_ps, 0)
        self._rows += [(now, sequence, 0), (at, sequence, 1), (at, sequence, 2)]
        return {"sequence": sequence, "flow_id": request["flow_id"]}

    def _timer(self, request: Object) -> Object:
        """Set a timer: a verb of linkpool, which a client of the open protocol does not use."""
        session = self._require_open()
        if self._drained:
            raise ProtocolError("drained", "no timer is set after drain")
        if len(self._timers) >= MOST_MESSAGES:
            raise ProtocolError("too-many", f"a session has at most {MOST_MESSAGES:,} timers")
        at = request["due_at_ps"]
        if at <= self._through_ps:
            raise ProtocolError("past", f"due_at_ps: above {self._through_ps}, the last")
        if request["tag"] >= 1 << 32:
            raise ProtocolError("tag", "tag: 32 bits")
        # The upper half of the tag says which timer it is.
        tag = len(self._timers) << 32 | request["tag"]
        try:
            session.timer(request["host"], at, tag=tag)
        except ValueError as error:
            raise ProtocolError("timer", str(error)) from None
        self._timers.append(request["timer_id"])
        return {"timer_id": request["timer_id"]}

    def _advance(self, request: Object) -> Object:
        session = self._require_open()
        self._require_all(request)
        through = request["through_ps"]
        if through < self._through_ps:
            raise ProtocolError("past", f"through_ps: not below {self._through_ps}, the last")
        try:
            # The clock has passed what is due before it.
            session.advance_to(through + 1)
        except ValueError as error:
            raise ProtocolError("time", str(error)) from None
        self._through_ps = through
        due: list[Object] = []
        for event in session.events():
            if event.what == "timer":
                due.append(self._due(event))
                continue
            sequence = self._by_message[event.message]
            if event.what == "given-up":
                raise ProtocolError("given-up", f"message {sequence}: its sender has given up")
            if event.what == "delivered":
                self._rows.append((event.at_ps, sequence, 3))
                self._completed.append(self._completion(sequence, event.at_ps))
        rows = sorted(row for row in self._rows if row[0] <= through)
        self._rows = [row for row in self._rows if row[0] > through]
        return {
            "through_sequence": len(self._injected),
            "through_ps": through,
            "rows": [self._row(*row) for row in rows],
            **({"timers": due} if self._timers else {}),
        }

    def _drain(self, request: Object) -> Object:
        session = self._require_open()
        self._require_all(request)
        if self._rows or len(self._completed) < len(self._injected):
            left = len(self._injected) - len(self._completed)
            raise ProtocolError(
                "not-quiescent", f"not arrived: {counted(left, 'message')}; advance"
            )
        if session.open_timers > 0:
            left = session.open_timers
            raise ProtocolError("not-quiescent", f"not due: {counted(left, 'timer')}; advance")
        self._drained = True
        return {
            "through_sequence": len(self._injected),
            "quiescent": True,
            "completions": self._completed,
            "counters": self._counters(),
        }

    def _close(self, request: Object) -> Object:
        session = self._require_open()
        self._require_all(request)
        if not self._drained:
            raise ProtocolError("not-drained", "a session is drained before it is closed")
        session.close()
        self.closed = True
        return {"through_sequence": len(self._injected), "counters": self._counters()}

    def _require_open(self) -> Session:
        if self._session is None:
            raise ProtocolError("not-open", "the first frame opens the session")
        return self._session

    def _require_all(self, request: Object) -> None:
        if request["through_sequence"] != len(self._injected):
            raise ProtocolError(
                "sequence", f"through_sequence: {len(self._injected)} is the last injected"
            )

    def _completion(self, sequence: int, at: int) -> Object:
        injected = self._injected[sequence - 1]
        start = injected["eligible_at_ps"]
        return {
            "profile": self._profile,
            "flow_id": injected["flow_id"],
            "source": injected["source"],
            "destination": injected["destination"],
            "tag": injected["tag"],
            "payload_bytes": injected["payload_bytes"],
            "start_time_ps": start,
            "completion_time_ps": at,
            "fct_ps": at - start,
        }

    def _due(self, event: Event) -> Object:
        number, tag = divmod(event.tag, 1 << 32)
        host = event.destination
        return {
            "time_ps": event.at_ps,
            "timer_id": self._timers[number],
            "host": host,
            "tag": tag,
        }

    def _row(self, at: int, sequence: int, phase: int) -> Object:
        flow = self._injected[sequence - 1]["flow_id"]
        return {"time_ps": at, "sequence": sequence, "phase": _PHASES[phase], "flow_id": flow}

    def _counters(self) -> Object:
        return {
            "injected": len(self._injected),
            "completed": len(self._completed),
            "through_ps": max(self._through_ps, 0),
        }


def _check_fields(request: Object, fields: dict[str, type]) -> None:
    for key in request.keys() - {"schema", "verb"} - fields.keys():
        raise ProtocolError("unknown-key", f"{key}: no key of {request['verb']}")
    for key, kind in fields.items():
        if key not in request:
            raise ProtocolError("missing-key", f"{key}: missing in {request['verb']}")
        value = request[key]
        if kind is _NUMBER:
            if type(value) is not int or not 0 <= value < 1 << 64:
                raise ProtocolError("number", f"{key}: a whole number from 0 to 2^64 - 1")
        elif not isinstance(value, str):
            raise ProtocolError("text", f"{key}: a text")

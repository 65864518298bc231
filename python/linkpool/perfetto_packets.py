"""Packets of Perfetto's trace format, to be added to a trace that the simulator has written.

The numbers of fields are those of Perfetto's `protos/perfetto/trace/`: `trace.proto`,
`trace_packet.proto`, and of `track_event/` `track_descriptor.proto`, `counter_descriptor.proto`,
`track_event.proto` and `debug_annotation.proto`. The wire format is that of protocol buffers
(<https://protobuf.dev/programming-guides/encoding/>). Traces that follow each other in a file are
one.
"""

import struct
from collections.abc import Mapping
from functools import cache

SEQUENCE = 2
"""Who writes; the simulator's own packets have 1 (`crates/sim/src/perfetto/file.rs`)."""
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4


def track(uuid: int, name: str, parent: int | None = None, unit: str | None = None) -> bytes:
    """Return the description of a track: of a counter if it has a unit, else of slices."""
    parts = [_number(1, uuid), _text(2, name)]
    parts += [_number(5, parent)] if parent is not None else []
    parts += [_bytes(8, _text(6, unit))] if unit is not None else []
    return _packet(_bytes(60, b"".join(parts)))


def begin(at: int, uuid: int, name: str, values: Mapping[str, int] | None = None) -> bytes:
    """Return the begin of a slice at a time in ns, with values that the viewer shows with it."""
    notes = [_bytes(4, _number(3, value) + _text(10, key)) for key, value in (values or {}).items()]
    return _event(at, uuid, _BEGIN, b"".join(notes) + _text(23, name))


def end(at: int, uuid: int) -> bytes:
    """Return the end of the slice of a track that began last."""
    return _event(at, uuid, _END, b"")


def instant(at: int, uuid: int, name: str) -> bytes:
    """Return what happens in an instant."""
    return _event(at, uuid, _INSTANT, _text(23, name))


def count(at: int, uuid: int, value: float) -> bytes:
    """Return the value of a counter from a time on."""
    return _event(at, uuid, _COUNTER, _tag(44, 1) + struct.pack("<d", value))


def _event(at: int, uuid: int, kind: int, more: bytes) -> bytes:
    return _packet(_number(8, at) + _bytes(11, _on(uuid, kind) + more))


@cache
def _on(uuid: int, kind: int) -> bytes:
    return _number(9, kind) + _number(11, uuid)


def _packet(content: bytes) -> bytes:
    return _bytes(1, content + _number(10, SEQUENCE))


def _number(field: int, value: int) -> bytes:
    return _tag(field, 0) + _varint(value)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _tag(field, 2) + _varint(len(value)) + value


@cache
def _tag(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _varint(value: int) -> bytes:
    """Return a number seven bits at a time, the lowest first; the last has no bit 8."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)

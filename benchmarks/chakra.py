"""Write the Chakra traces of docs/workloads: a computation, then an all-reduce.

    python benchmarks/chakra.py [--out DIR] [--ranks N] [--size BYTES] [--micros N]

A trace of a rank is a file of protobuf messages, each behind its length (MLCommons Chakra,
`schema/protobuf/et_def.proto`). This needs no library: a field is a number and a value.
"""

import argparse
from pathlib import Path

PAGES = Path(__file__).parents[1] / "docs" / "workloads"

COMP_NODE, COMM_COLL_NODE, ALL_REDUCE = 4, 7, 0


def varint(n: int) -> bytes:
    """Return a whole number in groups of 7 bits, the least first."""
    low, rest = n & 0x7F, n >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def number(field: int, n: int) -> bytes:
    """Return a field that holds a whole number."""
    return varint(field << 3) + varint(n)


def block(field: int, content: bytes) -> bytes:
    """Return a field that holds a text or a message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def attribute(name: str, value: bytes) -> bytes:
    """Return a property of a node."""
    return block(10, block(1, name.encode()) + value)


def integer(name: str, n: int) -> bytes:
    """Return a property whose value is an `int64`."""
    return attribute(name, number(9, n))


def text(name: str, value: str) -> bytes:
    """Return a property whose value is a text."""
    return attribute(name, block(29, value.encode()))


def node(
    number_of: int, name: str, kind: int, *, after: tuple[int, ...] = (), rest: bytes = b""
) -> bytes:
    """Return a node; it waits for the nodes with the numbers `after`."""
    head = number(1, number_of) + block(2, name.encode()) + number(3, kind)
    return head + b"".join(number(5, before) for before in after) + rest


def trace(*nodes: bytes) -> bytes:
    """Return a file: the metadata, then the nodes."""
    messages = (block(1, b"0.0.4"), *nodes)
    return b"".join(varint(len(message)) + message for message in messages)


def all_reduce(size: int, micros: int) -> bytes:
    """Return the trace of a rank that computes, then takes part in an all-reduce."""
    return trace(
        node(0, "compute", COMP_NODE, rest=number(7, micros)),
        node(
            1,
            "all-reduce",
            COMM_COLL_NODE,
            after=(0,),
            rest=integer("comm_type", ALL_REDUCE) + integer("comm_size", size),
        ),
    )


def main() -> None:
    """Write the traces."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PAGES)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--size", type=int, default=400_000)
    parser.add_argument("--micros", type=int, default=20)
    options = parser.parse_args()
    for rank in range(options.ranks):
        file = options.out / f"program.{rank}.et"
        file.write_bytes(all_reduce(options.size, options.micros))


if __name__ == "__main__":
    main()

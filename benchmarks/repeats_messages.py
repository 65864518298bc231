"""Messages of a run, the ports that they share, and the pictures and groups that they make.

A picture is a message with all others that share a port with it while it is under way, each with
its start relative to the start of the message. A group is a set of messages that are joined by
shared ports and times. Pictures and groups stand as hashes of 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]


@dataclass
class Ports:
    """Which message uses which ports, in any order."""

    message: Ints
    port: Ints


@dataclass
class Messages:
    """The messages of a run in order of start; times in picoseconds."""

    flow: Ints
    label: Ints
    src: Ints
    dst: Ints
    size: Ints
    iteration: Ints
    start: Ints
    delivered: Ints
    ended: Ints
    cold: NDArray[np.bool_]
    """It is the first of its connection."""
    distance: Ints
    """Links of a shortest path."""
    work: Floats
    """Its share of the packet-hops: packets times links."""
    data: Ports
    """The ports that its data takes."""
    acks: Ports
    """The ports of hosts that its ACKs take: the others are not in the tables."""

    def __len__(self) -> int:
        return len(self.flow)

    @property
    def duration(self) -> Ints:
        """From the start until all was delivered."""
        return self.delivered - self.start

    def named(self) -> Ints:
        """Return a number for each (job of the file, source, destination, size, first or not)."""
        return number(self.label, self.src, self.dst, self.size, self.cold)

    def shaped(self) -> Ints:
        """Return a number for each (links, size, first or not), whoever sends."""
        return number(self.distance, self.size, self.cold)


def number(*columns: NDArray[Any]) -> Ints:
    """Return the number of each row among the distinct rows of columns."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, code = np.unique(column, return_inverse=True)
        codes = codes * len(values) + code
        _, codes = np.unique(codes, return_inverse=True)
    return codes


def read(directory: Path, k: int, groups: int = 1, mss: int = 4096) -> Messages:
    """Read the messages of a run on a fat-tree whose switches have k ports.

    Args:
        directory: of the result.
        k: ports of a switch.
        groups: of a collective operation, whose jobs are iterations of groups.
        mss: bytes of a full packet.

    """
    columns = ["flow", "connection", "label", "src", "dst", "size_bytes", "job", "start_s"]
    flows = (
        pl.read_parquet(directory / "flows.parquet", columns=[*columns, "delivered_s", "end_s"])
        .filter(pl.col("end_s").is_not_null())
        .with_columns(
            pl.col("src", "dst").str.slice(1).cast(pl.Int64),
            pl.col("start_s", "delivered_s", "end_s").mul(1e12).round().cast(pl.Int64),
            pl.col("flow", "connection").cast(pl.Int64),
            pl.col("job").fill_null(0) // groups,
            (pl.col("label").rank("dense") - 1).cast(pl.Int64),
        )
        .sort("start_s", "flow")
    )
    array = {name: flows[name].to_numpy() for name in flows.columns}
    src, dst = array["src"], array["dst"]
    per_edge, per_pod = k // 2, k * k // 4
    in_rack, in_pod = src // per_edge == dst // per_edge, src // per_pod == dst // per_pod
    distance = np.where(in_rack, 2, np.where(in_pod, 4, 6))
    work = -(-array["size_bytes"] // mss) * distance
    return Messages(
        flow=array["flow"],
        label=array["label"],
        src=src,
        dst=dst,
        size=array["size_bytes"],
        iteration=array["job"],
        start=array["start_s"],
        delivered=array["delivered_s"],
        ended=array["end_s"],
        cold=array["flow"] == array["connection"],
        distance=distance,
        work=work / work.sum(),
        data=_data_ports(directory, flows, k),
        acks=_both(2 * dst, 2 * src + 1),
    )


def _both(up: Ints, down: Ints) -> Ports:
    """Return the ports of two hosts: 2 h is from host h to its switch, 2 h + 1 back."""
    each = np.arange(len(up))
    return Ports(np.concatenate([each, each]), np.concatenate([up, down]))


def _data_ports(directory: Path, flows: pl.DataFrame, k: int) -> Ports:
    """Return the ports of data: those of its path, or all that sprayed packets may take.

    Sprayed packets take all uplinks of a switch alike, so these count as one port.
    """
    paths = (
        pl.scan_parquet(directory / "subflows.parquet")
        .select(pl.col("flow").cast(pl.Int64).alias("connection"), "path")
        .join(flows.lazy().select("connection").unique(), on="connection", how="semi")
        .collect()
    )
    known = paths.drop_nulls()
    if known.height == 0:
        return _sprayed(flows["src"].to_numpy(), flows["dst"].to_numpy(), k)
    links: dict[str, int] = {}
    connection, port = [], []
    for number_, path in known.iter_rows():
        nodes = path.split(" ")
        for ends in pairwise(nodes):
            connection.append(number_)
            port.append(_port(ends, links))
    used = pl.DataFrame({"connection": connection, "port": port}).unique(maintain_order=True)
    joined = flows.select("connection").with_row_index("message").join(used, on="connection")
    return Ports(joined["message"].cast(pl.Int64).to_numpy(), joined["port"].to_numpy())


def _port(ends: tuple[str, str], links: dict[str, int]) -> int:
    """Return the number of a port: those of hosts as `_both` has them, others from 2^20 on."""
    source, target = ends
    if source.startswith("h"):
        return 2 * int(source[1:])
    if target.startswith("h"):
        return 2 * int(target[1:]) + 1
    return links.setdefault(f"{source} {target}", (1 << 20) + len(links))


def _sprayed(src: Ints, dst: Ints, k: int) -> Ports:
    """Return the host's ports, and one for all uplinks of a rack or a pod, and all down to it."""
    ends = _both(2 * src, 2 * dst + 1)
    message, port = [ends.message], [ends.port]
    for tier, hosts in enumerate((k // 2, k * k // 4)):
        leaves = np.flatnonzero(src // hosts != dst // hosts)
        base = (1 << 20) * (tier + 1)
        message += [leaves, leaves]
        port += [base + 2 * (src[leaves] // hosts), base + 2 * (dst[leaves] // hosts) + 1]
    return Ports(np.concatenate(message), np.concatenate(port))


def together(ports: Ports, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Return pairs of messages that share a port at a time; once for each port that they share.

    The first of a pair does not start later than the second.
    """
    order = np.lexsort((start[ports.message], ports.port))
    message, port = ports.message[order], ports.port[order]
    first, second = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    live, lag = np.arange(len(message)), 1
    while live.size:
        live = live[live + lag < len(message)]
        a, b = message[live], message[live + lag]
        meets = (port[live] == port[live + lag]) & (start[b] < end[a])
        live = live[meets]
        first.append(a[meets])
        second.append(b[meets])
        lag += 1
    return np.concatenate(first), np.concatenate(second)


def joined(messages: Messages, acks: bool) -> tuple[Ints, Ints]:
    """Return pairs that share a port: data with data, or with the ACKs on hosts' links."""
    if not acks:
        return together(messages.data, messages.start, messages.delivered)
    data, back = messages.data, messages.acks
    ports = Ports(
        np.concatenate([data.message, back.message]), np.concatenate([data.port, back.port])
    )
    return together(ports, messages.start, messages.ended)


def mix(*columns: NDArray[Any]) -> Hashes:
    """Hash columns of whole numbers, row by row (finaliser of splitmix64, Steele et al. 2014)."""
    state = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        state = state * np.uint64(0x9E3779B97F4A7C15) + column.astype(np.int64).view(np.uint64)
        state += np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


def rounded(offset: Ints, grain: int) -> Ints:
    """Return offsets in units of `grain` picoseconds, to the nearest."""
    return (offset + grain // 2) // grain


def pictures(kind: Ints, start: Ints, pairs: tuple[Ints, Ints], grain: int = 1) -> Hashes:
    """Return the picture of each message: its kind, and of those beside it kind and offset."""
    a, b = pairs
    keys = mix(kind)
    later, earlier = rounded(start[b] - start[a], grain), rounded(start[a] - start[b], grain)
    np.add.at(keys, a, mix(kind[b], later))
    np.add.at(keys, b, mix(kind[a], earlier))
    return keys


def components(count: int, pairs: tuple[Ints, Ints]) -> Ints:
    """Return the number of the group of each message."""
    edges = coo_array((np.ones(len(pairs[0]), np.int8), pairs), shape=(count, count))
    return np.asarray(connected_components(edges, directed=False)[1], np.int64)


def blocks(block: Ints, kind: Ints, start: Ints, *more: Ints, grain: int = 1) -> Hashes:
    """Return for each message the picture of its block: kinds, and starts from its first on."""
    first = np.full(int(block.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, block, start)
    sums = np.zeros(len(first), np.uint64)
    np.add.at(sums, block, mix(kind, rounded(start - first[block], grain), *more))
    return sums[block]


def first_like(block: Ints, key: Hashes, kind: Ints, start: Ints) -> Ints:
    """Return for each message that of the first block with the same key which stands for it.

    Messages are in order of start. Members of two blocks stand for each other by kind, then start.
    """
    order = np.lexsort((start, kind, block, key))
    sizes = np.bincount(block)
    place = np.arange(len(block))
    new = np.r_[True, np.diff(block[order]) != 0]
    begin = np.maximum.accumulate(np.where(new, place, 0))
    within = place - begin
    # The block of a key that starts first is that of the least index of a message.
    lowest = np.full(len(sizes), len(block))
    np.minimum.at(lowest, block, place)
    _, code = np.unique(key, return_inverse=True)
    earliest = np.full(int(code.max()) + 1, len(block))
    np.minimum.at(earliest, code, lowest[block])
    block_begin = np.zeros(len(sizes), np.int64)
    block_begin[block[order][new]] = place[new]
    model = block[earliest[code[order]]]
    found = np.empty(len(block), np.int64)
    found[order] = order[block_begin[model] + within]
    return found


def at_instants(messages: Messages, pairs: tuple[Ints, Ints], instants: int = 64) -> Floats:
    """Return, over evenly spaced messages, the share of those under way in the message's group."""
    chosen = np.linspace(0, len(messages) - 1, min(instants, len(messages))).astype(np.int64)
    shares = []
    for message in chosen:
        now = messages.start[message]
        under_way = (messages.start <= now) & (now < messages.delivered)
        if not under_way[message]:
            continue
        both = under_way[pairs[0]] & under_way[pairs[1]]
        group = components(len(messages), (pairs[0][both], pairs[1][both]))
        shares.append(float((group[under_way] == group[message]).sum() / under_way.sum()))
    return np.array(shares)

"""What must hold of the results of any run, by arithmetic of its own.

Tables are read with pyarrow, packets with a reader of pcapng blocks, and quantiles come from the
standard library: nothing here calls what it judges.
"""

import heapq
import json
import math
import statistics
import struct
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq  # type: ignore[import-untyped]

from random_scenarios import ROCE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Row = dict[str, Any]
# Times are whole picoseconds in 64-bit floats.
EXACT = 1e-12
LARGEST = 9_100
"""No packet of these scenarios is longer, bytes."""
UNOPENED = ("ndp", "uet", *ROCE)
"""Values of `control` of families whose connections have no handshake."""


def table(directory: Path, name: str) -> list[Row]:
    """Return the rows of a table; none, if there is no such file."""
    path = directory / f"{name}.parquet"
    rows: list[Row] = pq.read_table(path).to_pylist() if path.exists() else []
    return rows


def least(links: list[Row], source: str, size: float) -> dict[str, float]:
    """Return the least time of a packet of `size` bytes from a host to each node (Dijkstra)."""
    onward = defaultdict(list)
    for link in links:
        time = link["delay_s"] + 8 * size / link["rate_bps"]
        onward[link["from"]].append((link["to"], time))
    times = {source: 0.0}
    due = [(0.0, source)]
    while due:
        at, node = heapq.heappop(due)
        if at > times[node]:
            continue
        for to, time in onward[node]:
            if at + time < times.get(to, math.inf):
                times[to] = at + time
                heapq.heappush(due, (at + time, to))
    return times


class Judge:
    """Collects what does not hold."""

    def __init__(self, directory: Path) -> None:
        """Read the tables of a result."""
        self.directory = directory
        self.wrong: list[str] = []
        self.scenario = tomllib.loads((directory / "scenario.toml").read_text("utf-8"))
        self.run = json.loads((directory / "run.json").read_text("utf-8"))
        self.flows, self.subflows, self.links, self.changes, self.spans = (
            table(directory, name)
            for name in ("flows", "subflows", "links", "changes", "rank_spans")
        )

    def holds(self, condition: bool, what: str) -> None:
        """Note what does not."""
        if not condition:
            self.wrong.append(what)

    def judge(self) -> list[str]:
        """Return what does not hold."""
        self.times()
        self.counts()
        self.bounds()
        self.ports()
        self.series()
        self.ranks()
        self.lost()
        self.packets()
        self.summary()
        return self.wrong

    def times(self) -> None:
        """Each flow has one row, and its times follow each other."""
        numbers = [flow["flow"] for flow in self.flows]
        self.holds(len(numbers) == len(set(numbers)), "a flow has two rows")
        last = self.run["simulated_s"]
        for flow in self.flows:
            keys = ("start_s", "established_s", "delivered_s", "end_s")
            at = [flow[key] for key in keys if flow[key] is not None]
            name = f"flow {flow['flow']}"
            self.holds(all(a <= b for a, b in pairwise(at)), f"{name}: times {at}")
            self.holds(all(0 <= time <= last + EXACT for time in at), f"{name}: {at} beyond {last}")
            if flow["end_s"] is not None:
                self.holds(flow["delivered_s"] is not None, f"{name} ended, and was not delivered")
                fct = flow["end_s"] - flow["start_s"]
                self.holds(abs(flow["fct_s"] - fct) < EXACT, f"{name}: fct_s {flow['fct_s']}")
        ends = [flow["end_s"] for flow in self.flows]
        known = [end for end in ends if end is not None]
        self.holds(known == sorted(known), "rows in order of end")
        cut = [flow["end_s"] is None for flow in self.flows if not flow["failed"]]
        self.holds(cut == sorted(cut), "flows that the end of the run cuts off are not last")

    def counts(self) -> None:
        """What is acknowledged, sent and sent again adds up."""
        of = defaultdict(list)
        for subflow in self.subflows:
            of[subflow["flow"]].append(subflow)
        for flow in self.flows:
            name, own = f"flow {flow['flow']}", of[flow["flow"]]
            size, acked = flow["size_bytes"], flow["acked_bytes"]
            settings = self.scenario["transport"][flow["transport"]]
            if flow["end_s"] is not None:
                self.holds(acked == size, f"{name}: {acked} of {size} B acknowledged at its end")
            self.holds(
                0 <= acked <= (size or math.inf), f"{name}: {acked} of {size} B acknowledged"
            )
            rate = 8 * acked / flow["active_s"] if flow["active_s"] else 0.0
            if flow["active_s"]:
                near = math.isclose(flow["goodput_bps"], rate, rel_tol=1e-9)
                self.holds(near, f"{name}: goodput {flow['goodput_bps']}")
            mss = size_of(settings["mss"])
            new = flow["segments"] - flow["retransmits"]
            self.holds(new * mss >= acked, f"{name}: {new} segments for {acked} B")
            for key in ("segments", "retransmits", "timeouts", "marked_acks"):
                total = sum(subflow[key] for subflow in own)
                self.holds(flow[key] == total, f"{name}: {key} {flow[key]}, of subflows {total}")
            carried = sum(subflow["acked_bytes"] for subflow in own)
            # Of several subflows one may acknowledge all data before the others acknowledge theirs.
            if len(own) == 1 and settings["control"] not in UNOPENED:
                self.holds(carried == acked, f"{name}: {acked} B, {carried} B of its subflow")
        sent = sum(flow["segments"] for flow in self.flows)
        self.holds(
            self.run["data_packets"] == sent, f"data_packets {self.run['data_packets']}: {sent}"
        )

    def bounds(self) -> None:
        """No flow is faster than the line rates of its hosts and its shortest ways allow."""
        raised = [c for c in self.changes if c["change"] == "rate"]
        rates = {link["link"]: link["rate_bps"] for link in self.links}
        if any(c["value"] > rates[c["link"]] for c in raised):
            return
        out, into = Counter[str](), Counter[str]()
        nics = Counter(link["from"] for link in self.links)
        for link in self.links:
            out[link["from"]] += link["rate_bps"]
            into[link["to"]] += link["rate_bps"]
        for flow in self.flows:
            if flow["end_s"] is None:
                continue
            settings = self.scenario["transport"][flow["transport"]]
            mss, header, ack = (size_of(settings[key]) for key in ("mss", "header", "ack_size"))
            src, dst, size = flow["src"], flow["dst"], flow["size_bytes"]
            there, back = least(self.links, src, ack)[dst], least(self.links, dst, ack)[src]
            packets = math.ceil(size / mss)
            data = 8 * (size + packets * header) / min(out[src], into[dst])
            # Of several packets the last one at the receiver has 1 B of payload at least.
            way = least(self.links, src, header + (size if packets == 1 else 1))[dst]
            # The third packet of the handshake goes before the data, on the only NIC.
            third = 8 * ack / out[src] if nics[src] == 1 else 0.0
            handshake = 0.0 if settings["control"] in UNOPENED else there + back + third
            bound = handshake + max(way, data) + back
            name = f"flow {flow['flow']}"
            self.holds(flow["fct_s"] >= bound - EXACT, f"{name}: {flow['fct_s']} below {bound}")
            ideal = flow["ideal_fct_s"]
            self.holds(ideal <= flow["fct_s"] + EXACT, f"{name}: ideal {ideal} > {flow['fct_s']}")
            # It may take some picoseconds less, as serialisations are rounded.
            self.holds(ideal >= bound - 1e-9, f"{name}: ideal {ideal} below the bound {bound}")
            slowdown = flow["fct_s"] / ideal
            self.holds(math.isclose(flow["slowdown"], slowdown, rel_tol=1e-9), f"{name}: slowdown")

    def ports(self) -> None:
        """What comes to a switch leaves it, or is dropped there."""
        came, went = Counter[str](), Counter[str]()
        hosts = {link["from"] for link in self.links if link["layer"] == "host"}
        for link in self.links:
            came[link["to"]] += link["packets"] - link["drops_loss"]
            went[link["from"]] += link["packets"] + link["drops"] + link["drops_down"]
            self.holds(link["drops_loss"] <= link["packets"], f"{link['link']}: drops_loss")
        idle = self.flows and all(flow["end_s"] is not None for flow in self.flows)
        # FINs and last copies may be on their way at the end.
        idle = idle and max(f["end_s"] for f in self.flows) < self.run["simulated_s"] - 0.1
        for node in came.keys() - hosts:
            balance = came[node] - went[node]
            self.holds(balance >= 0, f"{node}: {came[node]} came, {went[node]} went")
            if idle:
                self.holds(balance == 0, f"{node}: {came[node]} came, {went[node]} went")
        if idle:
            hops = sum(link["packets"] - link["drops_loss"] for link in self.links)
            self.holds(self.run["packet_hops"] == hops, f"hops {self.run['packet_hops']}: {hops}")
        for link in self.links:
            use = link["utilisation"]
            self.holds(use is None or 0 <= use <= 1, f"{link['link']}: utilisation {use}")

    def series(self) -> None:
        """Samples of counters add up to the links' own, and no queue is longer than the longest."""
        links = {link["link"]: link for link in self.links}
        sums: dict[str, Counter[str]] = defaultdict(Counter)
        for row in table(self.directory, "counters"):
            for key in ("packets", "bytes", "drops", "drops_down", "drops_loss", "marks", "trims"):
                self.holds(row[key] >= 0 or key == "packets", f"{row['link']}: {key} {row[key]}")
                sums[row["link"]][key] += row[key]
            use = row["utilisation"]
            self.holds(use is None or 0 <= use <= 1, f"{row['link']}: counters, utilisation {use}")
        ended = self.run["simulated_s"] <= 0.002
        idle = all(flow["end_s"] is not None for flow in self.flows)
        for name, total in sums.items():
            for key, value in total.items():
                own = links[name][key]
                # Packets that were cut off with their link count in intervals alone.
                cut = links[name]["drops_down"] * {"packets": 1, "bytes": LARGEST}.get(key, 0)
                self.holds(value <= own + cut, f"{name}: {key} {value} in intervals, of {own}")
                # Bytes still queued at the end count as the link's, and are in no interval.
                if ended and not cut and (idle or key != "bytes"):
                    self.holds(value == own, f"{name}: {key} {value} in intervals, not {own}")
        # Of a port that trims, the longest queue is that of data; of one with classes, that of one.
        queue = self.scenario["queue"]
        of_one = queue.get("discipline") == "trimming" or "class" in queue
        for row in () if of_one else table(self.directory, "queue"):
            most = links[row["link"]]["max_queue_pkts"]
            self.holds(row["queue_pkts"] <= most, f"{row['link']}: {row['queue_pkts']} > {most}")

    def ranks(self) -> None:
        """What a rank does has no gaps, from the start of its job to its end, and adds up."""
        rows = table(self.directory, "ranks")
        of = defaultdict(list)
        for span in self.spans:
            of[span["workload"], span["rank"]].append(span)
        if not self.spans:
            return
        for (workload, rank), spans in of.items():
            job, name = [row for row in rows if row["workload"] == workload], f"rank {rank}"
            self.holds(spans[0]["start_s"] == min(row["start_s"] for row in job), f"{name}: start")
            gaps = [(a["end_s"], b["start_s"]) for a, b in pairwise(spans)]
            self.holds(all(a == b for a, b in gaps), f"{name}: {gaps}")
            iterations = self.scenario["workload"]["training"][0]["iterations"]
            done = [row for row in job if row["end_s"] and row["iteration"] == iterations - 1]
            over = len({row["rank"] for row in done}) == len({row["rank"] for row in job})
            last = max(row["end_s"] for row in done) if over else self.run["simulated_s"]
            self.holds(
                spans[-1]["end_s"] == last, f"{name}: until {spans[-1]['end_s']}, not {last}"
            )
            for row in job:
                if row["rank"] != rank or row["end_s"] is None:
                    continue
                key = (row["iteration"], row["restart"])
                inside = [
                    min(span["end_s"], row["end_s"]) - span["start_s"]
                    for span in spans
                    if (span["iteration"], span["restart"]) == key
                    and span["doing"] not in ("checkpoint", "recovery")
                    and span["start_s"] < row["end_s"]
                ]
                near = abs(sum(inside) - (row["end_s"] - row["start_s"])) < EXACT * len(spans)
                self.holds(near, f"{name}, iteration {key}: {sum(inside)}")

    def lost(self) -> None:
        """What failures cost: the time from the first begin of what is begun again."""
        jobs: dict[int, dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
        by_number = itemgetter("job")
        for row in table(self.directory, "jobs"):
            jobs[row["workload"]][row["restart"]].append(row)
        for attempts in jobs.values():
            numbered = {restart: sorted(rows, key=by_number) for restart, rows in attempts.items()}
            first, *later = sorted(numbered)
            self.holds(all(row["lost_s"] is None for row in numbered[first]), "lost before")
            for before, after in pairwise([first, *later]):
                row, *others = numbered[after]
                [start] = [of["start_s"] for of in attempts[before] if of["job"] == row["job"]]
                expected = row["start_s"] - start
                self.holds(abs(row["lost_s"] - expected) < EXACT, f"{row}: {expected}")
                self.holds(0 < row["recovery_s"] <= row["lost_s"], f"{row}")
                self.holds(all(of["lost_s"] is None for of in others), "lost twice")

    def packets(self) -> None:
        """A capture has each packet of a port that came to the other end."""
        path = self.directory / "capture.pcapng"
        if not path.exists():
            return
        links = {link["link"]: link for link in self.links}
        idle = all(flow["end_s"] is not None for flow in self.flows)
        for name, count in captured(path).items():
            passed = links[name]["packets"] - links[name]["drops_loss"]
            self.holds(count <= passed, f"{name}: {count} captured, {passed} passed")
            if idle:
                self.holds(count == passed, f"{name}: {count} captured, {passed} passed")

    def summary(self) -> None:
        """The numbers of all flows together."""
        summary = json.loads((self.directory / "summary.json").read_text("utf-8"))
        group, period = summary["overall"], summary["period_end_s"] - summary["period_start_s"]
        measured = [flow for flow in self.flows if flow["measured"]]
        times = [flow["fct_s"] for flow in measured if flow["fct_s"] is not None]
        # A flow that begins as its job fails has none.
        goodputs = [flow["goodput_bps"] for flow in measured if flow["goodput_bps"] is not None]
        capacity = sum(link["rate_bps"] for link in self.links if link["layer"] == "host")
        expected: dict[str, float] = {
            "flows": len(measured),
            "finished": len(times),
            "unfinished": len(measured) - len(times),
            "offered_load": 8 * sum(flow["size_bytes"] for flow in measured) / capacity / period,
            "goodput_mean_bps": statistics.fmean(goodputs) if goodputs else 0.0,
            "segments": sum(flow["segments"] for flow in measured),
            "timeouts": sum(flow["timeouts"] for flow in measured),
        }
        if any(goodputs):
            squares = sum(goodput**2 for goodput in goodputs)
            expected["jain"] = sum(goodputs) ** 2 / len(goodputs) / squares
        found = group | {f"fct.{key}": value for key, value in group["fct"].items()}
        # Where flows are unfinished, percentiles are a matter of what is not known.
        if len(times) > 1 and len(times) == len(measured):
            cuts = statistics.quantiles(times, n=100, method="inclusive")
            # A percentile is one of enough flows that at least one is beyond it, or missing.
            for name, least in (("p50_s", 2), ("p90_s", 10), ("p99_s", 100)):
                if len(times) >= least:
                    expected[f"fct.{name}"] = cuts[int(name[1:3]) - 1]
                else:
                    self.holds(found[f"fct.{name}"] is None, f"{name} of {len(times)} flows")
            expected |= {"fct.mean_s": statistics.fmean(times), "fct.max_s": max(times)}
            expected["fct.sd_s"] = statistics.stdev(times)
        for key, value in expected.items():
            near = math.isclose(found[key], value, rel_tol=1e-9, abs_tol=1e-15)
            self.holds(near, f"{key}: {found[key]}, not {value}")


def size_of(text: object) -> int:
    """Return the bytes of a size in a scenario as run."""
    text = str(text)
    for unit, factor in (("KiB", 1024), ("KB", 1000), ("MB", 1_000_000), ("B", 1)):
        if text.endswith(unit):
            return round(float(text.removesuffix(unit)) * factor)
    return int(text)


def captured(path: Path) -> Counter[str]:
    """Return the packets of each interface of a pcapng file.

    Its blocks: draft-ietf-opsawg-pcapng, section 4.
    """
    content, at = path.read_bytes(), 0
    names: list[str] = []
    counts = Counter[str]()
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 1:  # interface description: options follow link type and snap length
            options, names_before = at + 16, len(names)
            while options < at + length - 4:
                code, size = struct.unpack_from("<HH", content, options)
                if code == 2:  # if_name
                    names.append(content[options + 4 : options + 4 + size].decode())
                options += 4 + (size + 3) // 4 * 4
            assert len(names) == names_before + 1, "an interface without a name"
            counts[names[-1]] = 0
        elif kind == 6:  # enhanced packet
            counts[names[struct.unpack_from("<I", content, at + 8)[0]]] += 1
        at += length
    return counts

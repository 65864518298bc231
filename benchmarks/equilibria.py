"""Draw the figures of docs/equilibria: simulated equilibria beside what theory says of them.

    python benchmarks/equilibria.py [NAME ...] [--short]

Names are those of the pages; without one, all are drawn. Each page prints its numbers too.
`--short` simulates a tenth of the time, to try things.
"""

import argparse
import math
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import linkpool
from linkpool.result import Result
from linkpool.study import style
from linkpool.study.schemes import LOOKS, NAMES
from linkpool.study.toml import Value, dumps

PAGES = Path(__file__).parents[1] / "docs" / "equilibria"
PACKET_BITS = 8 * 1462


def simulate(scenario: Mapping[str, Value], keep: Callable[[Result], pl.DataFrame]) -> pl.DataFrame:
    """Run a scenario and return what is wanted of its result."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "scenario.toml"
        path.write_text(dumps(scenario), encoding="utf-8")
        return keep(linkpool.run(path, out=Path(directory) / "result"))


def save(figure: Figure, name: str) -> None:
    """Write a figure beside its page."""
    PAGES.mkdir(parents=True, exist_ok=True)
    with style.context():
        (PAGES / f"{name}.png").write_bytes(style.render(figure, "png"))


def paper(control: str, **keys: Value) -> dict[str, Value]:
    """Return a transport as in the papers' simulations, with slow start up to any window."""
    return {"preset": "paper-2013", "control": control, "initial_ssthresh": "unlimited", **keys}


def tcp(scale: float) -> None:
    """Draw TCP's throughput under random loss: 1.3098 / (RTT sqrt(p))."""
    rtt_s, flows = 0.01, 10
    losses = [3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1]
    measured = []
    for p in losses:
        duration = max(scale * 200.0, 1.0)
        scenario: dict[str, Value] = {
            "duration": f"{duration:g}s",
            "topology": {
                "dumbbell": {
                    "pairs": 1,
                    "rate": "10Gbps",
                    "delay": "1us",
                    "bottleneck_delay": "4998us",
                }
            },
            "queue": {"limit": 10_000},
            "change": [{"links": ["L->R"], "loss": p}],
            "transport": {"tcp": paper("reno")},
            "workload": {"flow": [_pair("tcp", "S1", "D1", count=flows)]},
        }
        rows = simulate(scenario, lambda r: r.flows.select("acked_bytes"))
        rate = float(rows["acked_bytes"].to_numpy().mean()) / 1400 * rtt_s / duration
        measured.append(rate)
        law = 1.3098 / math.sqrt(p)
        print(f"tcp: p = {p:g}: {rate:.3g} packets an RTT; law {law:.3g} ({rate / law - 1:+.0%})")
    figure, axes = style.panels(1, 1, "TCP under random loss, RTT 10 ms", (5.0, 3.2))
    at = axes[0, 0]
    x = np.geomspace(2e-4, 0.15, 100)
    at.plot(x, 1.3098 / np.sqrt(x), color="black", linewidth=1, label="1.3098 / √p")
    timeouts = 0.2 * np.minimum(1, 3 * np.sqrt(3 * x / 8)) * x * (1 + 32 * x**2)
    padhye = rtt_s / (rtt_s * np.sqrt(2 * x / 3) + timeouts)
    at.plot(x, padhye, color="black", linewidth=1, linestyle=":", label="Padhye et al. 1998")
    at.plot(losses, measured, "o", color="#0072b2", label="simulated")
    at.set_xscale("log")
    at.set_yscale("log")
    at.set_xlabel("probability of loss p")
    at.set_ylabel("packets an RTT")
    at.legend()
    save(figure, "tcp")


def two_bottlenecks(scale: float) -> None:
    """Draw scenario C of Khalili et al.: multipath users beside TCP users of one of two links."""
    users, shared_mbps = 10, 2.0
    ratios = [0.5, 0.75, 1.0, 1.5, 2.0]
    found: dict[str, list[tuple[float, float]]] = {}
    duration = max(scale * 200.0, 10.0)
    for law in ("lia", "olia", "balia"):
        for ratio in ratios:
            rates = [f"{users * shared_mbps * r:g}Mbps" for r in (ratio, 1.0)]
            ring: dict[str, Value] = {
                "bottleneck_rates": list(rates),
                "bottleneck_delays": ["20ms", "20ms"],
                "rate": f"{4 * users * shared_mbps:g}Mbps",
                "delay": "1ms",
            }
            multi = [_pair("multi", "S1", "D1", start=f"{137 * i}ms") for i in range(users)]
            single = [_pair("tcp", "X2", "Y2", start=f"{151 * i}ms") for i in range(users)]
            scenario: dict[str, Value] = {
                "duration": f"{duration:g}s",
                "topology": {"ring": ring},
                "queue": {"limit": 100},
                "transport": {
                    "multi": paper(law, subflows=2, paths="disjoint"),
                    "tcp": paper("reno"),
                },
                "workload": {"flow": [*multi, *single]},
            }
            rows = simulate(scenario, lambda r: r.flows.select("transport", "acked_bytes"))
            got = [
                8e-6
                * float(rows.filter(pl.col("transport") == t)["acked_bytes"].to_numpy().mean())
                / duration
                / shared_mbps
                for t in ("multi", "tcp")
            ]
            found.setdefault(law, []).append((got[0], got[1]))
            theory = lia_shares(ratio) if law == "lia" else pooled(ratio)
            print(
                f"two-bottlenecks: {law}, C1/C2 = {ratio}: multipath {got[0]:.3f}, "
                f"TCP {got[1]:.3f}; theory {theory[0]:.3f}, {theory[1]:.3f}"
            )
    figure, axes = style.panels(1, 2, "Multipath users beside TCP users (scenario C)", (4.0, 3.0))
    x = np.linspace(0.4, 2.1, 60)
    for side, title in ((0, "a multipath user"), (1, "a TCP user")):
        at = axes[0, side]
        at.plot(
            x,
            [lia_shares(r)[side] for r in x],
            color="black",
            linestyle="--",
            linewidth=1,
            label="theory, LIA",
        )
        at.plot(
            x,
            [pooled(r)[side] for r in x],
            color="black",
            linewidth=1,
            label="theory, best paths only",
        )
        for law, values in found.items():
            look = LOOKS[law]
            at.plot(
                ratios, [v[side] for v in values], look.marker, color=look.colour, label=NAMES[law]
            )
        at.set_title(title)
        at.set_xlabel("C1 / C2")
    axes[0, 0].set_ylabel("goodput / C2")
    style.from_zero(axes[0, 0])
    style.legend(figure, axes[0, 0], columns=5)
    save(figure, "two-bottlenecks")


GOODPUT = 1400 / 1462
"""Of what a link carries."""


def lia_shares(ratio: float) -> tuple[float, float]:
    """Return what a multipath and a TCP user get under LIA, as parts of C2, with C1 = ratio C2.

    With z = sqrt(p1/p2) and as many users of each kind: z^3 + z^2 + z = C2/C1; the multipath user
    gets C1 (1 + z^2), the TCP user C1 z (1 + z^2) (Khalili et al., CoNEXT 2012, section 3.3).
    """
    roots = np.roots([1.0, 1.0, 1.0, -1.0 / ratio])
    z = min(float(root.real) for root in roots if abs(root.imag) < 1e-9 and root.real > 0)
    return GOODPUT * ratio * (1 + z * z), GOODPUT * ratio * z * (1 + z * z)


def pooled(ratio: float) -> tuple[float, float]:
    """Return the same where the multipath user takes the better path only, or pools both."""
    if ratio >= 1:
        return GOODPUT * ratio, GOODPUT
    return GOODPUT * (1 + ratio) / 2, GOODPUT * (1 + ratio) / 2


def xmp(scale: float) -> None:
    """Draw congestion equality: a flow over two bottlenecks beside a flow on each of them."""
    first_gbps = 1.0
    ratios = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    duration = max(scale * 5.0, 0.5)
    points: dict[str, list[tuple[float, float]]] = {}
    for law in ("xmp", "amp"):
        for ratio in ratios:
            rates = [f"{round(1000 * first_gbps * r)}Mbps" for r in (1.0, ratio)]
            ring: dict[str, Value] = {
                "bottleneck_rates": list(rates),
                "bottleneck_delays": ["50us", "50us"],
                "rate": "10Gbps",
                "delay": "5us",
            }
            scenario: dict[str, Value] = {
                "duration": f"{duration:g}s",
                "topology": {"ring": ring},
                "queue": {"limit": 200, "mark": 20},
                "transport": {
                    "multi": paper(law, subflows=2, paths="disjoint"),
                    "single": paper(law),
                },
                "workload": {
                    "flow": [
                        _pair("multi", "S1", "D1", start="7us"),
                        _pair("single", "X1", "Y1"),
                        _pair("single", "X2", "Y2", start="3us"),
                    ]
                },
            }
            rows = simulate(
                scenario,
                lambda r: (
                    r.subflows.join(
                        r.flows.filter(pl.col("transport") == "multi").select("flow"), on="flow"
                    )
                    .sort("subflow")
                    .select("acked_bytes")
                ),
            )
            got = [8e-9 * float(b) / duration for b in rows["acked_bytes"]]
            points.setdefault(law, []).append((got[0], got[1]))
            theory = equality(ratio)
            print(
                f"xmp: {law}, C2/C1 = {ratio}: {got[0]:.3f} + {got[1]:.3f} Gbps; "
                f"theory {theory[0]:.3f} + {theory[1]:.3f}"
            )
    title = "A flow over two bottlenecks, beside one flow on each"
    figure, axes = style.panels(1, 2, title, (4.0, 3.0))
    x = np.linspace(0.3, 1.0, 60)
    for side, name in ((0, "over the first (1 Gbps)"), (1, "over the second")):
        at = axes[0, side]
        at.plot(x, [equality(r)[side] for r in x], color="black", linewidth=1, label="theory")
        for law, values in points.items():
            look = LOOKS[law]
            at.plot(
                ratios, [v[side] for v in values], look.marker, color=look.colour, label=NAMES[law]
            )
        at.set_title(name)
        at.set_xlabel("C2 / C1")
    axes[0, 0].set_ylabel("goodput (Gbit/s)")
    style.from_zero(axes[0, 0])
    style.legend(figure, axes[0, 0])
    save(figure, "xmp")


def equality(ratio: float) -> tuple[float, float]:
    """Return an XMP flow's rates over links of 1 and `ratio`, by equations (7) to (9).

    With equal RTTs every path in use is marked with p = 1/(1 + y T/beta), y the flow's sum of
    rates: so all three flows have the same y, as long as the second path can be used at all.
    """
    y = (1 + ratio) / 3
    if ratio < 0.5:
        return GOODPUT * 0.5, 0.0
    return GOODPUT * (1 - y), GOODPUT * (ratio - y)


def dctcp(scale: float) -> None:
    """Draw the amplitude of the queue under synchronised DCTCP flows."""
    rtt_s, k = 100e-6, 40
    flows = [1, 2, 3, 4, 6, 8, 10]
    duration = max(scale * 0.4, 0.1)
    bdp = 10e9 * rtt_s / PACKET_BITS
    measured, means = [], []
    series: dict[int, pl.DataFrame] = {}
    for n in flows:
        scenario: dict[str, Value] = {
            "duration": f"{duration:g}s",
            "topology": {"many-to-one": {"senders": n, "rate": "10Gbps", "delay": "24414ns"}},
            "queue": {"limit": 1000, "mark": k},
            "transport": {"dctcp": paper("dctcp")},
            "workload": {"many-to-one": [{"transport": "dctcp", "flows": n, "receiver": "R"}]},
            "record": {"queue": {"links": ["W->R"], "every": "2us", "from": f"{duration / 2:g}s"}},
        }
        if n == 1:
            # A sender as fast as the bottleneck queues at its own port.
            scenario["record"]["queue"]["links"] = ["S1->W"]  # type: ignore[index,call-overload]
        queue = simulate(scenario, lambda r: r.queue)
        series[n] = queue
        measured.append(amplitude(queue["queue_pkts"].to_numpy()))
        means.append(float(queue["queue_pkts"].max()))  # type: ignore[arg-type]
        theory = 0.5 * math.sqrt(2 * n * (bdp + k))
        print(
            f"dctcp: N = {n}: amplitude {measured[-1]:.1f}, theory {theory:.1f}; "
            f"max {means[-1]:.0f}, theory {k + n}"
        )
    figure, axes = style.panels(
        1, 2, "DCTCP, 10 Gbps, RTT 100 us, K = 40", (4.2, 3.0), sharey=False
    )
    left, right = axes[0]
    x = np.linspace(1, 10, 50)
    left.plot(x, 0.5 * np.sqrt(2 * x * (bdp + k)), color="black", linewidth=1, label="theory")
    left.plot(flows, measured, "s", color="#7f7f7f", label="simulated")
    left.set_xlabel("flows N")
    left.set_ylabel("amplitude of the queue (packets)")
    left.legend()
    style.from_zero(left)
    two = series[2].head(1000)
    time = (two["time_s"].to_numpy() - float(two["time_s"][0])) * 1e3
    right.plot(time, two["queue_pkts"].to_numpy(), color="#7f7f7f", linewidth=0.8)
    right.axhline(k + 2, color="black", linewidth=0.8, linestyle="--")
    right.axhline(
        k + 2 - 0.5 * math.sqrt(4 * (bdp + k)), color="black", linewidth=0.8, linestyle="--"
    )
    right.set_title("N = 2; dashed: theory")
    right.set_xlabel("time (ms)")
    right.set_ylabel("queue (packets)")
    style.from_zero(right)
    save(figure, "dctcp")


def amplitude(queue: np.ndarray) -> float:
    """Return the mean height of the sawteeth: what is between their crossings of the mean."""
    middle = queue.mean()
    above = queue >= middle
    edges = np.flatnonzero(above[1:] != above[:-1]) + 1
    parts = np.split(queue, edges)[1:-1]
    highs = [part.max() for part in parts if part[0] >= middle and len(part) > 2]
    lows = [part.min() for part in parts if part[0] < middle and len(part) > 2]
    return float(np.mean(highs) - np.mean(lows)) if highs and lows else 0.0


def _pair(transport: str, source: str, to: str, **keys: Value) -> dict[str, Value]:
    return {"transport": transport, "from": source, "to": to, **keys}


DRAWN = {"tcp": tcp, "two-bottlenecks": two_bottlenecks, "xmp": xmp, "dctcp": dctcp}


def main() -> None:
    """Draw what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(DRAWN))
    parser.add_argument("--short", action="store_true", help="simulate a tenth of the time")
    arguments = parser.parse_args()
    for name in arguments.names or DRAWN:
        if name not in DRAWN:
            parser.error(f"no page {name}; there are {', '.join(DRAWN)}")
        DRAWN[name](0.1 if arguments.short else 1.0)


if __name__ == "__main__":
    main()

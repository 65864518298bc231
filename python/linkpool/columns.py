"""What each column of a result means; `docs/results.md` says the same, which a test checks."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    type: str
    unit: str
    meaning: str


def _counts(where: str) -> tuple[Column, ...]:
    return (
        Column("acked_bytes", "i64", "B", f"payload acknowledged {where}"),
        Column("segments", "i64", "packets", "data segments sent, retransmissions included"),
        Column("retransmits", "i64", "packets", "data segments sent again"),
        Column("timeouts", "i64", "", "retransmission timeouts, of SYNs too"),
        Column("recoveries", "i64", "", "fast recoveries entered"),
        Column("undos", "i64", "", "windows restored, because nothing had been lost"),
        Column("probes", "i64", "packets", "tail loss probes sent"),
        Column("marked_acks", "i64", "packets", "ACKs that carried an ECN echo"),
        Column(
            "reinjected_bytes",
            "i64",
            "B",
            "payload sent on a subflow after another that did not get through "
            "(stale_after, fail_after)",
        ),
    )


_FLOW_COUNTS = _counts("at connection level")

FLOWS = (
    Column(
        "flow",
        "u32",
        "",
        "id: flows known before the run in order of start, then those that others have started",
    ),
    Column("label", "string", "", "label of the workload"),
    Column(
        "burst",
        "u32",
        "",
        'number of the burst, or of the round of repeat = "all"; 0 for flows that are in none',
    ),
    Column("job", "u32", "", "number of the job among those of its label; null: of no job"),
    Column("transport", "string", "", "name in the scenario"),
    Column("control", "string", "", "its congestion control"),
    Column("src", "string", "", "sending host"),
    Column("dst", "string", "", "receiving host"),
    Column(
        "locality",
        "string",
        "",
        "in-rack: the first NICs of both are at one switch; in-pod: at two that are joined below "
        "the core; between-pods",
    ),
    Column("size_bytes", "i64", "B", "null: unlimited"),
    Column("start_s", "f64", "s", "the first SYN was sent"),
    Column("established_s", "f64", "s", "the first SYN-ACK arrived"),
    Column(
        "end_s",
        "f64",
        "s",
        "the last data was acknowledged; null: unfinished at the end of the run",
    ),
    Column("fct_s", "f64", "s", "end_s - start_s: with the handshake"),
    Column(
        "fct_established_s",
        "f64",
        "s",
        "end_s - established_s: without the handshake, as the papers' simulations measure",
    ),
    Column(
        "ideal_fct_s",
        "f64",
        "s",
        "the least fct_s that any transport could reach alone in the network; null: unlimited",
    ),
    Column("slowdown", "f64", "", "fct_s / ideal_fct_s, 1 at the least; null: unfinished"),
    Column(
        "active_s",
        "f64",
        "s",
        "from start_s to the end of the flow, its stop, or the end of the run",
    ),
    _FLOW_COUNTS[0],
    Column("goodput_bps", "f64", "bit/s", "8 acked_bytes / active_s"),
    *_FLOW_COUNTS[1:],
    Column("subflows", "u32", "", "subflows established"),
    Column("suppressions", "u32", "", "AMP: times the flow became single-path"),
    Column("releases", "u32", "", "AMP: times the flow became multipath again"),
    Column("failed", "bool", "", "the connection was given up"),
    Column(
        "measured",
        "bool",
        "",
        "it counts in statistics: it started in the measured period, or it is unlimited and was "
        "active in it",
    ),
    Column("measured_s", "f64", "s", "the part of active_s that lies in the measured period"),
    Column(
        "measured_bytes",
        "i64",
        "B",
        "payload acknowledged at connection level in the measured period",
    ),
)

SUBFLOWS = (
    Column("flow", "u32", "", "flow it belongs to"),
    Column("subflow", "u32", "", "number within the flow, from 0"),
    Column(
        "path",
        "string",
        "",
        "names of the nodes, S1 W R, when it was established; null: packets take paths of "
        "their own",
    ),
    Column("established_s", "f64", "s", "null: never"),
    *_counts("on this subflow"),
    Column("cuts", "i64", "", "window cuts by ECN marks"),
    Column("cwnd_pkts", "f64", "packets", "window at the end"),
    Column("ssthresh_pkts", "f64", "packets", "slow-start threshold at the end; null: unlimited"),
    Column("srtt_s", "f64", "s", "smoothed RTT at the end; null: no sample"),
    Column("min_rtt_s", "f64", "s", "smallest RTT; null: no sample"),
    Column("rto_s", "f64", "s", "retransmission timeout at the end; null: no sample"),
)

JOBS = (
    Column("label", "string", "", "label of the workload"),
    Column("kind", "string", "", "partition-aggregate, or the algorithm of a collective operation"),
    Column("job", "u32", "", "number among those of its label; job in flows"),
    Column("chain", "u32", "", "of the chains side by side; null: an operation"),
    Column("client", "string", "", "host; null: an operation"),
    Column("ranks", "u32", "", "hosts that take part in an operation; null: another job"),
    Column("size_bytes", "i64", "B", "data of each rank; null: another job"),
    Column(
        "start_s",
        "f64",
        "s",
        "the client opens the connections of its requests; of an operation, the first start of "
        "its flows",
    ),
    Column(
        "end_s",
        "f64",
        "s",
        "the last answer has arrived at the client; of an operation, its last data is "
        "acknowledged; null: under way at the end of the run",
    ),
    Column("jct_s", "f64", "s", "end_s - start_s"),
    Column("flows", "u32", "", "requests and answers, or messages"),
)

WORKLOADS = (
    Column("label", "string", "", "label in flows; requests and answers have a row each"),
    Column("kind", "string", "", "of the workload"),
    Column("transport", "string", "", "name in the scenario"),
    Column(
        "sizes",
        "string",
        "",
        "constant, uniform, pareto, the name of the table, trace, messages or unlimited",
    ),
    Column("interpolation", "string", "", "of a table: linear or stair; null: no table"),
    Column(
        "mean_bytes",
        "f64",
        "B",
        "mean of the distribution, not of what was drawn; null: unlimited",
    ),
    Column(
        "load",
        "f64",
        "",
        "that arrivals at this rate with this mean offer, over what the links from all hosts "
        "carry; null: no rate of arrivals",
    ),
)

LINKS = (
    Column("link", "string", "", "FROM->TO"),
    Column("from", "string", "", "sending node"),
    Column("to", "string", "", "receiving node"),
    Column("layer", "string", "", "of the sending port: host, edge, aggregation, core or switch"),
    Column("to_layer", "string", "", "of the receiving node"),
    Column("rate_bps", "f64", "bit/s", "rate"),
    Column("delay_s", "f64", "s", "propagation delay"),
    Column("packets", "i64", "packets", "put on the wire"),
    Column("bytes", "i64", "B", "put on the wire, headers included"),
    Column("drops", "i64", "packets", "packets dropped at this port"),
    Column("drop_bytes", "i64", "B", "bytes dropped at this port"),
    Column("drops_down", "i64", "packets", "packets lost because the link was down"),
    Column("drops_loss", "i64", "packets", "packets lost on the wire at random"),
    Column("marks", "i64", "packets", "packets marked CE here"),
    Column("max_queue_pkts", "u32", "packets", "longest queue, by the scenario's way of counting"),
    Column(
        "utilisation",
        "f64",
        "",
        "bytes sent over what the link could have sent in the simulated time",
    ),
)

CHANGES = (
    Column("time_s", "f64", "s", "when; 0: from the start"),
    Column("link", "string", "", "FROM->TO; null for routes"),
    Column(
        "change", "string", "", "down, up, rate, limit, loss, or routes: paths avoid what is down"
    ),
    Column(
        "value", "f64", "unit", "the new rate or limit; of loss, the share lost in the long run"
    ),
    Column("unit", "string", "", "bit/s, packets or bytes"),
)

QUEUE = (
    Column("time_s", "f64", "s", "time of the sample"),
    Column("link", "string", "", "FROM->TO"),
    Column(
        "queue_pkts",
        "u32",
        "packets",
        "waiting, without the one in service unless count_in_service",
    ),
    Column(
        "queue_bytes",
        "i64",
        "B",
        "all bytes not yet on the wire, with the rest of the one in service",
    ),
)

CWND = (
    Column("time_s", "f64", "s", "time of the sample"),
    Column("flow", "u32", "", "flow"),
    Column("subflow", "u32", "", "subflow"),
    Column("cwnd_pkts", "f64", "packets", "window"),
    Column("ssthresh_pkts", "f64", "packets", "slow-start threshold; null: unlimited"),
    Column("srtt_s", "f64", "s", "smoothed RTT; null: no sample"),
    Column("suppressed", "bool", "", "AMP: the flow is single-path"),
)

RATE = (
    Column("time_s", "f64", "s", "end of the interval"),
    Column("flow", "u32", "", "flow"),
    Column("subflow", "u32", "", "subflow"),
    Column("goodput_bps", "f64", "bit/s", "payload acknowledged in the interval"),
)

RTT = (
    Column("time_s", "f64", "s", "the ACK arrived"),
    Column("flow", "u32", "", "flow"),
    Column("subflow", "u32", "", "subflow"),
    Column("rtt_s", "f64", "s", "from a segment that was sent once, or the SYN, to its ACK"),
)

COUNTERS = (
    Column("time_s", "f64", "s", "end of the interval; the last one may be shorter"),
    Column("link", "string", "", "FROM->TO"),
    Column("packets", "i64", "packets", "accepted for transmission in the interval"),
    Column("bytes", "i64", "B", "put on the wire in the interval"),
    Column("drops", "i64", "packets", "packets dropped at this port"),
    Column("drops_down", "i64", "packets", "packets lost because the link was down"),
    Column("drops_loss", "i64", "packets", "packets lost on the wire at random"),
    Column("marks", "i64", "packets", "packets marked CE here"),
    Column("utilisation", "f64", "", "bytes over what the link could have sent in the interval"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "flows": FLOWS,
    "subflows": SUBFLOWS,
    "jobs": JOBS,
    "workloads": WORKLOADS,
    "links": LINKS,
    "changes": CHANGES,
    "queue": QUEUE,
    "cwnd": CWND,
    "rate": RATE,
    "rtt": RTT,
    "counters": COUNTERS,
}

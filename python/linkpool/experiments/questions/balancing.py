"""Ways to use many paths, side by side: one hashed path, PLB, spraying, REPS, NDP, subflows.

All have packets of 4 KiB, the recovery of RACK, and an ACK for each packet. Handshakes are part of
completion times, but for NDP, which has none.
"""

from linkpool.result import Result
from linkpool.study.toml import Table, Value

MSS, HEADER = 4096, 64
SIZES: Table = {"mss": f"{MSS}B", "header": f"{HEADER}B", "ack_size": f"{HEADER}B"}
SUBFLOWS = {"lia-4": 4, "lia-8": 8, "lia-16": 16, "amp-8": 8}
PATHS = {"ecmp": "hash", "plb": "plb", "spray": "scatter", "reps": "reps"}


def transport(scheme: str, window: int, min_rto: str) -> Table:
    """Return a scheme's transport; the subflows of a connection share the first window."""
    if scheme == "ndp":
        return {**SIZES, "control": "ndp", "initial_window": window, "min_rto": min_rto}
    common: dict[str, Value] = {**SIZES, "recovery": "rack", "ack_every": 1}
    common |= {"min_rto": min_rto, "initial_rto": "1ms"}
    if scheme in SUBFLOWS:
        n = SUBFLOWS[scheme]
        own: Table = {"control": scheme.partition("-")[0], "subflows": n}
        # Segments in turns, and no buffer by which a subflow holds others up.
        plain: Table = {"scheduler": "round-robin", "send_buffer": "unlimited"}
        return {**common, **own, **plain, "initial_window": max(round(window / n), 2)}
    return {**common, "control": "dctcp", "paths": PATHS[scheme], "initial_window": window}


def on_wire_s(size: float, rate_bps: float) -> float:
    """Return how long a link takes for so much data with its headers."""
    return 8 * size * (MSS + HEADER) / MSS / rate_bps


def trouble(result: Result) -> dict[str, float | None]:
    """Return what went wrong: unfinished flows, timeouts, the share of data sent again."""
    flows = result.flows
    return {
        "unfinished": float(flows["fct_s"].null_count()),
        "timeouts": float(flows["timeouts"].sum()),
        "retransmits": float(flows["retransmits"].sum()) / max(float(flows["segments"].sum()), 1.0),
    }


def last_s(result: Result) -> float | None:
    """Return when the last flow ended; None: one did not end."""
    end = result.flows["end_s"]
    return None if end.null_count() or not len(end) else float(end.max())  # type: ignore[arg-type]

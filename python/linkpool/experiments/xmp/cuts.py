"""When subflows are cut: by samples of their windows, and together or not."""

import numpy as np
import polars as pl

LEAST_CUT = 0.6
"""A window that falls by more packets from one sample to the next was cut: 1/beta of it, a packet
at least; growth by a packet a round hides less of it."""


def times(cwnd: pl.DataFrame) -> dict[tuple[object, ...], "np.ndarray"]:
    """Return the times of the cuts of each (flow, subflow), s, from the series of windows."""
    found = {}
    for key, rows in cwnd.partition_by("flow", "subflow", as_dict=True).items():
        fell = np.diff(rows["cwnd_pkts"].to_numpy()) < -LEAST_CUT
        found[key] = rows["time_s"].to_numpy()[1:][fell]
    return found


def near(mine: "np.ndarray", other: "np.ndarray", within_s: float) -> "np.ndarray":
    """Say for each time whether the other has one so near; both are in order."""
    after = np.searchsorted(other, mine)
    edges = np.concatenate(([-np.inf], other, [np.inf]))
    gaps = np.minimum(mine - edges[after], edges[after + 1] - mine)
    return np.asarray(gaps <= within_s + 1e-9)

"""The time that jobs lost to failures: what they did again, and how long they stood still."""

from typing import NamedTuple

from linkpool.result import Result


class Lost(NamedTuple):
    """What a job lost.

    Attributes:
        label: of its workload.
        failures: after so many it went on.
        lost_s: what they cost: the sum of `lost_s` of its iterations.
        recovery_s: the part of it for which the job stood still.
        of_s: the time of the job, to the end of its last iteration.

    """

    label: str
    failures: int
    lost_s: float
    recovery_s: float
    of_s: float


def lost(result: Result) -> list[Lost]:
    """Return what jobs lost that failed and went on."""
    if not result.has("jobs"):
        return []
    # Here, as it takes longer to load than a short run without jobs.
    import polars as pl

    if "lost_s" not in result.jobs.columns:
        return []
    until = pl.max_horizontal(pl.col("end_s").max(), pl.col("start_s").max())
    jobs = result.jobs.group_by("workload", "label", maintain_order=True).agg(
        pl.col("restart").max(),
        pl.col("lost_s", "recovery_s").sum(),
        (until - pl.col("start_s").min()).alias("of_s"),
    )
    failed = jobs.filter(pl.col("restart") > 0)
    return [Lost(*row) for row in failed.drop("workload").iter_rows()]

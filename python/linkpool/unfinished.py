"""Flows that had not finished when the run ended: how long they had taken, and which are slowest.

Such a flow has no completion time, but it will take longer than it had taken by then.
"""

import polars as pl


def slowdown_so_far() -> pl.Expr:
    """Return the least slowdown of a flow that had not finished when the run ended."""
    return (pl.col("active_s") / pl.col("ideal_fct_s")).clip(lower_bound=1.0)


def so_far(flows: pl.LazyFrame) -> pl.LazyFrame:
    """Give unfinished flows the least that their `fct_s` and `slowdown` may be.

    The column `at_least` says which flows these are. Flows without a size stay as they are.
    """
    unfinished = pl.col("end_s").is_null() & pl.col("size_bytes").is_not_null()
    return flows.with_columns(
        at_least=unfinished,
        fct_s=pl.when(unfinished).then("active_s").otherwise("fct_s"),
        slowdown=pl.when(unfinished).then(slowdown_so_far()).otherwise("slowdown"),
    )


def slowest(flows: pl.LazyFrame, count: int, only_unfinished: bool = False) -> pl.DataFrame:
    """Return number and slowdown of the slowest measured flows: finished ones, and others so far.

    With `only_unfinished`, of those alone that had not finished when the run ended.

    >>> import linkpool
    >>> result = linkpool.run("docs/workloads/incast.toml")
    >>> slowest(result.scan("flows"), 1).columns
    ['flow', 'slowdown', 'at_least']

    """
    known = so_far(flows.filter("measured")).drop_nulls("slowdown")
    if only_unfinished:
        known = known.filter("at_least")
    order = known.sort("slowdown", "flow", descending=[True, False]).head(count)
    return order.select("flow", "slowdown", "at_least").collect()

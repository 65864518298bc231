"""The answer of a study in a few sentences: which arm is best, by how much, and how sure."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from linkpool.intervals import CONFIDENCE, holm
from linkpool.study import measures
from linkpool.study.cell import ends
from linkpool.study.model import ARM, Study, name_of
from linkpool.study.statistics import over_seeds
from linkpool.study.threshold import shown
from linkpool.units import counted, show_number

LARGE = frozenset({"goodput", "delivered", "load", "jain", "goodput_kept"})
"""Measures that are to be large."""
SMALL = frozenset(
    {"fct", "fct_established", "slowdown", "jct", "loss", "timeouts", "retransmissions", "silence"}
    | {"queue", "queue_max", "failure"}
)
"""Measures that are to be small; of others nobody wins."""
LEAST_P = 0.001
"""Below this, how small a p-value is says nothing: the seeds need not be normal so far out."""

MOST_LINES = 6
"""Settings of which the answer is said; the table has the others."""


def asked(study: Study) -> str:
    """Say what a study asks."""
    return f"{study.extent}, by {', '.join(study.measures)}"


def answer(study: Study, data: pl.DataFrame) -> list[str]:
    """Return the answer by the first measure of a study that has a winner, a line per setting.

    Args:
        study: the study.
        data: as `StudyResult.data` has it.

    """
    if len(study.arms) < 2:
        return []
    varied = [key for key in study.keys if key != ARM]
    answers = []
    for name, rows in _first(study, data):
        for settings in rows.select(varied).unique(maintain_order=True).rows() if varied else [()]:
            at = dict(zip(varied, settings, strict=True))
            of = rows.filter(**at) if at else rows
            short = {key: value for key, value in at.items() if key not in study.told}
            where = f"{name_of(short)}: " if at else ""
            answers += [one._replace(said=f"{where}{one.said}") for one in _winner(name, of, study)]
    compared = [one for one in answers if one.p is not None]
    adjusted = dict(zip(compared, holm([one.p or 0.0 for one in compared]), strict=True))
    lines = [f"{one.said}{_sure(one.pairs, adjusted.get(one))}" for one in answers]
    left = len(lines) - MOST_LINES
    return [
        *lines[:MOST_LINES],
        *([f"{counted(left, 'more setting')}: see the table"] if left > 0 else []),
    ]


class _Answer(NamedTuple):
    """A sentence, the p-value of the difference in it, and the seeds that this is of."""

    said: str
    p: float | None = None
    pairs: int | None = None


def _first(study: Study, data: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return the first measure with a direction and values of two arms, and its rows.

    They are those of whole runs. Times of jobs and of requests have none of these: then they are
    those of each label.
    """
    for name in study.measures:
        asked_for = measures.wanted(name)
        measure = asked_for.measure.name
        if measure not in LARGE | SMALL:
            continue
        statistic = asked_for.statistics[0]
        of = data.filter(measure=measure, statistic=statistic)
        there = of["part"].unique(maintain_order=True).to_list()
        whole = [measures.ALL] if measures.ALL in there else there
        found = []
        for part in whole if asked_for.part is None else [asked_for.part]:
            rows = of.filter(part=part)
            if rows.drop_nulls("value").select(ARM).n_unique() > 1:
                name = f"{measure}.{statistic}" + ("" if part == measures.ALL else f"@{part}")
                found.append((name, rows))
        if found:
            return found
    return []


def _winner(name: str, rows: pl.DataFrame, study: Study) -> Iterator[_Answer]:
    """Say which arm is best, and how far the next one is from it."""
    large, keys = measures.wanted(name).measure.name in LARGE, study.keys
    means = over_seeds(rows, keys, {}).drop_nulls("mean").sort("mean", descending=large)
    if means.height < 2:
        return
    best = means.row(0, named=True)
    word = "largest" if large else "least"
    value = shown(name, best["mean"])
    if best["at_least"] and not large:
        yield _Answer(
            f"open: {best[ARM]} has the {word} {name} so far, {value}, but flows of it had not "
            "finished when the runs ended; a longer drain would tell"
        )
        return
    alike = means.filter(mean=best["mean"])[ARM].to_list()
    if len(alike) > 1:
        together = f"{', '.join(alike[:-1])} and {alike[-1]}"
        yield _Answer(f"{together} have the same, the {word}, {name}: {value}")
        return
    second = means.row(1, named=True)[ARM]
    pair = over_seeds(rows.filter(pl.col(ARM).is_in([best[ARM], second])), keys, {ARM: best[ARM]})
    other = pair.row(by_predicate=pl.col(ARM) == second, named=True)
    said = f"{best[ARM]} has the {word} {name}, {value}; {second}, the next, {_distance(other)}"
    seeds = rows.filter(pl.col(ARM).is_in([best[ARM], second]))
    if (
        other["pairs"] > 1
        and seeds.group_by(ARM).agg(pl.col("value").n_unique() == 1)["value"].all()
    ):
        yield _Answer(f"{said}: both are equal with every seed, so seeds say nothing of chance")
        return
    yield _Answer(said, other["p"], other["pairs"])


def _distance(other: dict[str, Any]) -> str:
    """Say how far an arm is from the best one."""
    if other["ratio"] is None:
        return f"has no ratio to it ({other['why'] or 'it is 0'})"
    bound = {">=": "at least ", "<=": "at most "}.get(other["ratio_bound"], "")
    said = f"has {bound}{show_number(other['ratio'])} times that"
    if other["ratio_low"] is not None:
        low_to_high = ends(
            other["ratio"], other["ratio_low"], other["ratio_high"], show_number, bound=1.0
        )
        said += f" (95%: {low_to_high})"
    return said


def _sure(pairs: int | None, p: float | None) -> str:
    """Say how sure a difference is; `p` is adjusted for the number of answers (Holm)."""
    if pairs is None:
        return ""
    if p is None:
        return ": one seed, so chance is not told from effect" if pairs < 2 else ""
    sure = "sure" if p < 1.0 - CONFIDENCE else "not sure"
    said = f"p = {show_number(p)}" if p >= LEAST_P else f"p < {LEAST_P}"
    return f": {sure} over {pairs} seeds, {said}"

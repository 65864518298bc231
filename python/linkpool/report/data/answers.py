"""The first lines of the page of a study: what was asked, the answer, claims, unfinished flows."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from linkpool.study.absent import absent, whole_of
from linkpool.study.answer import answer, asked
from linkpool.study.arms import Arm
from linkpool.study.found import Found
from linkpool.study.measuring import measure
from linkpool.study.model import SEED, Study
from linkpool.study.remarks import counts_of, equal_runs, remarks
from linkpool.study.verdicts import judge


def answers(study: Study, arms: Sequence[Arm], found: Found | None = None) -> list[str]:
    """Return the lines; `arms` are all arms of the study, `found` what it found by a search."""
    claimed = [whole_of(claim.measure) for claim in study.claims]
    rows = _measured(arms, list(dict.fromkeys([*study.measures, *claimed])))
    claims = (
        f"{one.holds.value}: {one.claim}: {one.of} {one.measured}"
        for one in judge(study.claims, rows, study.keys)
    )
    equal = equal_runs({arm.name: arm.results for arm in arms})
    runs = ((arm.name, counts_of(result)) for arm in arms for result in arm.results)
    lacking = absent(study.measures, rows, partial(_measured, arms))
    if found is not None:
        return [found.asked(), *found.answer(), *lacking, *remarks(runs), *equal]
    return [asked(study), *lacking, *answer(study, rows), *claims, *remarks(runs), *equal]


def _measured(arms: Sequence[Arm], names: Sequence[str]) -> pl.DataFrame:
    return pl.concat(
        [
            measure(result, names).select(
                *(pl.lit(value).alias(key) for key, value in arm.keys.items()),
                pl.lit(seed).alias(SEED),
                pl.all(),
            )
            for arm in arms
            for seed, result in enumerate(arm.results)
        ],
        how="vertical_relaxed",
    )

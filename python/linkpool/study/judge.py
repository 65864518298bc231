"""Judge an experiment: by the data of all seeds, and by that of each seed alone."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from linkpool.study.claims import Claim
from linkpool.study.experiment import KEY_SEED, Experiment


def judge(experiment: Experiment, data: pl.DataFrame) -> list[Claim]:
    """Return the claims of an experiment, with the verdicts that each seed alone gives.

    A verdict that single seeds do not share depends on chance. There are no verdicts of single
    seeds with one seed, and where claims need all of them (`Experiment.of_single_seeds`). Runs
    without randomness are made once, and belong to each seed.
    """
    claims = experiment.claims(data)
    seed = KEY_SEED.name
    seeds = sorted(data[seed].unique()) if seed in data.columns else []
    if len(seeds) < 2 or not experiment.of_single_seeds:
        return claims
    fixed = _without_randomness(experiment, data, seeds[:2])
    alone = []
    for one in seeds:
        rows = data.filter((pl.col(seed) == one) | fixed)
        alone.append({claim.id: claim.verdict for claim in experiment.claims(rows)})
    return [
        replace(claim, single_seeds=tuple(verdicts[claim.id] for verdicts in alone))
        for claim in claims
    ]


def _without_randomness(
    experiment: Experiment, data: pl.DataFrame, seeds: Sequence[int]
) -> pl.Series:
    """Tell which rows are of runs that only the first of two seeds has."""
    first, second = seeds
    points = experiment.points(seeds)
    drawn = [point.keys for point in points if point.seed == second]
    fixed = [point.keys for point in points if point.seed == first and point.keys not in drawn]
    if not fixed:
        return pl.repeat(False, data.height, eager=True)
    runs = pl.DataFrame(fixed, schema={key: data.schema[key] for key in fixed[0]})
    found = data.select(runs.columns).join(
        runs.with_columns(pl.lit(True).alias("fixed")),
        on=runs.columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return found["fixed"].fill_null(False)

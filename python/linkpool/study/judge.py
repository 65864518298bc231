"""Judge an experiment: by the data of all seeds, and by that of each seed alone."""

from dataclasses import replace

import polars as pl

from linkpool.study.claims import Claim
from linkpool.study.experiment import KEY_SEED, Experiment


def judge(experiment: Experiment, data: pl.DataFrame) -> list[Claim]:
    """Return the claims of an experiment, with the verdicts that each seed alone gives.

    A verdict that single seeds do not share depends on chance. There are no verdicts of single
    seeds with one seed, and where claims need all of them (`Experiment.of_single_seeds`).
    """
    claims = experiment.claims(data)
    seed = KEY_SEED.name
    seeds = sorted(data[seed].unique()) if seed in data.columns else []
    if len(seeds) < 2 or not experiment.of_single_seeds:
        return claims
    alone = [
        {claim.id: claim.verdict for claim in experiment.claims(data.filter(pl.col(seed) == one))}
        for one in seeds
    ]
    return [
        replace(claim, single_seeds=tuple(verdicts[claim.id] for verdicts in alone))
        for claim in claims
    ]

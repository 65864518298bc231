"""What a study searches: a space of settings, objectives, and what is required of them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from linkpool.study import measures
from linkpool.study.threshold import Threshold

MOST_TRIALS = 10_000


class Range(BaseModel):
    """Numbers from one to another, whole ones if both ends are.

    Attributes:
        start: the least.
        end: the largest.
        log: they are tried evenly by their logarithms.

    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: int | float = Field(alias="from")
    end: int | float = Field(alias="to")
    log: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Range:
        if not self.start < self.end:
            raise ValueError(f"from {self.start} to {self.end}: from is to be below to")
        if self.log and self.start <= 0:
            raise ValueError(f"from {self.start}: with log = true it is above 0")
        return self

    @property
    def is_whole(self) -> bool:
        """Whether its numbers are whole."""
        return isinstance(self.start, int) and isinstance(self.end, int)


Choices: TypeAlias = "Range | list[int | float | str | bool]"


class Search(BaseModel):
    """The table `[search]` of a study file.

    >>> search = Search(space={"queue": {"mark": [10, 20]}, "a.b": [1, 2]}, minimise="fct.p99")
    >>> search.sampler, [objective for objective, _ in search.objectives]
    ('tpe', ['fct.p99'])

    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    space: dict[str, Choices] = Field(
        min_length=1, description="Scenario keys, and the values of each: a list or a range."
    )
    sampler: Literal["tpe", "grid"] = Field(
        "tpe", description="`tpe`: Tree-structured Parzen Estimator; `grid`: all combinations."
    )
    trials: int = Field(30, ge=1, le=MOST_TRIALS, description="How many are tried at most.")
    seed: int = Field(1, ge=0, lt=2**32, description="Of the sampler.")
    race: bool = Field(
        False,
        description="Stop a trial before its last seed if it is worse than the best, surely.",
    )
    minimise: str | list[str] = Field(default=[], description="Measures to be small.")
    maximise: str | list[str] = Field(default=[], description="Measures to be large.")
    require: list[Threshold] = Field(
        default=[], description="What is to hold in the mean over the seeds: below or above."
    )

    @field_validator("space", mode="before")
    @classmethod
    def _dotted(cls, table: object) -> object:
        return _flat(table) if isinstance(table, Mapping) else table

    @field_validator("space")
    @classmethod
    def _some(cls, space: dict[str, Choices]) -> dict[str, Choices]:
        for key, choices in space.items():
            if isinstance(choices, list) and (not choices or len(set(choices)) < len(choices)):
                raise ValueError(f"{key}: write a list of values that differ")
        return space

    @model_validator(mode="after")
    def _complete(self) -> Search:
        if not self.objectives:
            raise ValueError("write what to minimise or maximise")
        for name, _ in self.objectives:
            found = measures.wanted(name)
            if len(found.statistics) != 1:
                first = found.statistics[0]
                raise ValueError(f"{name} has several statistics; name one, as in {name}.{first}")
        for one in self.require:
            if one.other is not None or one.arm is not None or one.at:
                raise ValueError("require: write below or above, without arms")
        if self.sampler == "grid":
            ranges = [key for key, choices in self.space.items() if isinstance(choices, Range)]
            if ranges:
                raise ValueError(f"space: {ranges[0]}: a grid needs a list of values")
            count = len(self.grid())
            if "trials" in self.model_fields_set and self.trials < count:
                raise ValueError(f"trials = {self.trials}: the grid has {count}; leave trials out")
            if count > MOST_TRIALS:
                raise ValueError(f"the grid has {count} combinations; at most {MOST_TRIALS}")
        return self

    @property
    def objectives(self) -> list[tuple[str, bool]]:
        """The measures, and whether each is to be small."""
        small, large = (
            [one] if isinstance(one, str) else one for one in (self.minimise, self.maximise)
        )
        return [*((name, True) for name in small), *((name, False) for name in large)]

    @property
    def measures(self) -> list[str]:
        """The measures of objectives and requirements."""
        names = [*(name for name, _ in self.objectives), *(one.measure for one in self.require)]
        return list(dict.fromkeys(names))

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds of what is required: `goodput.mean above` and its value."""
        sides = {True: "below", False: "above"}
        return {f"{one.measure} {sides[one.is_below]}": one.bound for one in self.require}

    def grid(self) -> list[dict[str, Any]]:
        """Return all combinations of a space of lists, the last key first."""
        lists = [choices for choices in self.space.values() if isinstance(choices, list)]
        return [dict(zip(self.space, values, strict=True)) for values in product(*lists)]


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return choices by dotted keys; a table that has `from` is a range."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and "from" not in value:
            found |= _flat(value, f"{before}{key}.")
        else:
            found[f"{before}{key}"] = value
    return found

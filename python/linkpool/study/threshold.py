"""A claim of a user's study: what is to hold of its arms."""

from __future__ import annotations

from math import isfinite
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from linkpool.study import measures
from linkpool.units import read_quantity, show_number, show_rate, show_seconds

RELATIVE = "load.delivered"
"""The measure of what is delivered that has no unit."""

SIDES = ("below", "above", "below_arm", "above_arm")


class Threshold(BaseModel):
    """One claim of a study file.

    >>> Threshold(measure="fct.p99@all", below="5ms").bound
    0.005

    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    measure: str = Field(description="The measure, with one statistic: `fct.p99@all`.")
    text: str = Field("", description="The claim in words; default: made of the other keys.")
    arm: str | None = Field(None, description="The arm that it is about; default: every arm.")
    at: dict[str, Any] = Field(
        default={}, description="Values of varied keys that it is about; default: all."
    )
    below: float | str | None = Field(None, description="The value is below this: 1.5, `5ms`.")
    above: float | str | None = Field(None, description="The value is above this.")
    below_arm: str | None = Field(None, description="The value is below that of this arm.")
    above_arm: str | None = Field(None, description="The value is above that of this arm.")
    times: float = Field(1.0, gt=0.0, description="So many times the value of that arm.")
    sure: bool = Field(
        True, description="The whole 95% interval over the seeds is to be there, not only the mean."
    )

    @field_validator("measure")
    @classmethod
    def _of_one_statistic(cls, name: str) -> str:
        found = measures.wanted(name)
        if len(found.statistics) != 1:
            first = found.statistics[0]
            raise ValueError(f"{name} has several statistics; name one, as in {name}.{first}")
        return name

    @field_validator("below", "above", "times", mode="before")
    @classmethod
    def _a_number(cls, value: object) -> object:
        if isinstance(value, bool) or (isinstance(value, float) and not isfinite(value)):
            raise ValueError(f"nothing is below or above {value}; write a finite number, as in 1.5")
        return value

    @model_validator(mode="after")
    def _one_side(self) -> Threshold:
        given = [side for side in SIDES if getattr(self, side) is not None]
        if len(given) != 1:
            raise ValueError(f"a claim has one of {', '.join(SIDES)}")
        if self.other is not None and self.arm == self.other:
            raise ValueError(f"arm and {given[0]} are both {self.arm!r}; compare two arms")
        if self.times != 1.0 and not given[0].endswith("_arm"):
            raise ValueError("times goes with below_arm or above_arm")
        self.bound  # noqa: B018 - a quantity that cannot be read is an error here
        return self

    @property
    def is_below(self) -> bool:
        """Whether the value is to be below the bound; else above."""
        return self.below is not None or self.below_arm is not None

    @property
    def other(self) -> str | None:
        """The arm that it is compared with."""
        return self.below_arm or self.above_arm

    @property
    def bound(self) -> float:
        """The bound: in the unit of the measure, or as a ratio to the other arm."""
        if self.other is not None:
            return self.times
        given = self.below if self.below is not None else self.above
        assert given is not None, "one side is given"
        unit = measures.wanted(self.measure).measure.unit
        if unit == "bit/s" and _is_bare(given):
            raise ValueError(
                f"{given} has no unit, and {self.measure} is a rate: write one, as in "
                f'"1Gbps"; {RELATIVE} is relative, a share of the rate of the links from all hosts'
            )
        if not isinstance(given, str):
            return given
        found = read_quantity(given)
        if found is None or found[1] != unit:
            of_unit = f"in {unit}" if unit else "without a unit"
            raise ValueError(f"{given!r} is no value of {self.measure}, which is {of_unit}")
        return found[0]

    def __str__(self) -> str:
        """Say the claim in words."""
        if self.text:
            return self.text
        side = "below" if self.is_below else "above"
        if self.other is None:
            return f"{self.measure} {side} {shown(self.measure, self.bound)}"
        times = "" if self.times == 1.0 else f"{self.times:g} times "
        return f"{self.measure} {side} {times}that of {self.other}"


def _is_bare(given: float | str) -> bool:
    """Tell whether a bound is a number without a unit, other than 0, which needs none."""
    try:
        return float(given) != 0.0
    except ValueError:
        return False


def shown(measure: str, value: float | None) -> str:
    """Write a value of a measure with its unit."""
    unit = measures.wanted(measure).measure.unit
    if unit == "s":
        return show_seconds(value)
    if unit == "bit/s":
        return show_rate(value)
    written = "-" if value is None else show_number(value)
    return f"{written}{f' {unit}' if unit else ''}"

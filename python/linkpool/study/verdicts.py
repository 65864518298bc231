"""What became of the claims of a user's study, with the confidence of its seeds."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from linkpool.plain import plain
from linkpool.study import measures
from linkpool.study.absent import without
from linkpool.study.cell import ends
from linkpool.study.model import flatten, name_of
from linkpool.study.statistics import over_seeds
from linkpool.study.threshold import Threshold, shown
from linkpool.units import show_number


class Holds(Enum):
    """Whether a claim holds."""

    YES = "holds"
    UNSURE = "unsure"
    NO = "fails"


class Verdict(NamedTuple):
    """What became of a claim in one arm at one setting.

    Attributes:
        claim: in words.
        of: the arm and its values.
        holds: whether it holds.
        measured: the value, with its interval, or why there is none.

    """

    claim: str
    of: str
    holds: Holds
    measured: str

    def as_dict(self) -> dict[str, str]:
        """Return it as texts, ready for JSON."""
        return {**self._asdict(), "holds": self.holds.value}


def judge(claims: Sequence[Threshold], data: pl.DataFrame, keys: Sequence[str]) -> list[Verdict]:
    """Judge claims by what was measured.

    Args:
        claims: the claims.
        data: columns as `StudyResult.data` has them, with all parts of the measures of all claims.
        keys: the columns that tell runs apart, but for the seed.

    """
    found: list[Verdict] = []
    for claim in claims:
        asked = measures.wanted(claim.measure)
        of_measure = data.filter(
            pl.col("measure") == asked.measure.name, pl.col("statistic") == asked.statistics[0]
        )
        there = of_measure["part"].unique(maintain_order=True).to_list()
        parts = [asked.part or measures.ALL]
        if asked.part is None and measures.ALL not in there:
            # Times of jobs and requests have no value of the whole run, but one for each label.
            parts = there
        reference = {} if claim.other is None else {keys[0]: claim.other}
        judged, before = 0, len(found)
        for part in parts:
            table = over_seeds(of_measure.filter(part=part), list(keys), reference)
            beside = f", {part}" if len(parts) > 1 else ""
            for row in table.iter_rows(named=True):
                judged += 1
                if _about(claim, row, keys[0]):
                    named = name_of({key: row[key] for key in keys})
                    found.append(Verdict(str(claim), f"{named}{beside}", *_judged(claim, row)))
        if not judged:
            said = without(claim.measure, there)
            found.append(Verdict(str(claim), "every arm:", Holds.NO, said))
        elif len(found) == before:
            found.append(Verdict(str(claim), "no arm:", Holds.NO, "no run is one that it is about"))
    return found


def _about(claim: Threshold, row: Mapping[str, Any], arm: str) -> bool:
    if row[arm] == claim.other or (claim.arm is not None and row[arm] != claim.arm):
        return False
    return all(str(row[key]) == str(value) for key, value in flatten(claim.at).items())


def _judged(claim: Threshold, row: Mapping[str, Any]) -> tuple[Holds, str]:
    show: Callable[[float], str] = show_number
    if claim.other is None:
        value, low, high = row["mean"], row["low"], row["high"]
        floor, ceiling, times = bool(row["at_least"]), False, ""
        show = partial(shown, claim.measure)
    else:
        value, low, high = row["ratio"], row["ratio_low"], row["ratio_high"]
        floor, ceiling, times = row["ratio_bound"] == ">=", row["ratio_bound"] == "<=", "×"
    if value is None:
        return Holds.NO, row["why"] or "no value"
    bound = "≥ " if floor else "≤ " if ceiling else ""
    interval = "" if low is None else f" ({ends(value, low, high, show, claim.bound)})"
    measured = f"{bound}{times}{show(value)}{interval}"
    below = claim.is_below
    if not (value < claim.bound if below else value > claim.bound):
        # A bound on the right side of the value may hide one that is there.
        hidden = ceiling if below else floor
        return (Holds.UNSURE if hidden else Holds.NO), measured
    if floor if below else ceiling:
        return Holds.UNSURE, measured
    end = high if below else low
    one_seed = row["seeds"] == 1
    certain = one_seed if end is None else (end < claim.bound if below else end > claim.bound)
    # A lower bound that is above is above, whatever the interval is.
    certain = certain or (floor and not below) or (ceiling and below)
    return (Holds.YES if certain or not claim.sure else Holds.UNSURE), measured


def junit(study: str, verdicts: Sequence[Verdict]) -> bytes:
    """Return verdicts as a JUnit file, which continuous integration reads: a case for each."""
    failed = [verdict for verdict in verdicts if verdict.holds is not Holds.YES]
    suite = ET.Element(
        "testsuite", name=plain(study), tests=str(len(verdicts)), failures=str(len(failed))
    )
    for verdict in verdicts:
        case = ET.SubElement(
            suite, "testcase", classname=plain(study), name=plain(f"{verdict.claim}: {verdict.of}")
        )
        said = plain(f"{verdict.holds.value}: {verdict.measured}")
        if verdict.holds is not Holds.YES:
            ET.SubElement(case, "failure", message=said)
        else:
            ET.SubElement(case, "system-out").text = said
    root = ET.Element("testsuites", tests=suite.get("tests", ""), failures=str(len(failed)))
    root.append(suite)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"

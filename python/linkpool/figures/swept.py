"""What a sweep draws: the one setting that the runs of a study vary, and a measure."""

from collections.abc import Mapping, Sequence
from typing import Any

from linkpool.figures.kind import FigureError
from linkpool.study.measures import Wanted, wanted
from linkpool.study.model import ARM, CALLED

USUAL = "fct.p99@all"
"""The measure, if none is named."""


def require(keys: Sequence[Mapping[str, Any]], measure: str | None) -> None:
    """Raise `FigureError` if it cannot be drawn of arms with these keys, and of this measure."""
    name = measure or USUAL
    asked = asked_for(name)
    varied_of(keys)
    if asked.measure.by == "layer" and not asked.measure.whole and asked.part is None:
        raise FigureError(f"sweep: {name} has a part for each layer; name one: {name}@edge, core")


NO_SEARCH = "pareto is of a study that searches: its file has a table [search] (docs/study.md)"


def _of_one(keys: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether arms are those of one study, whose names differ."""
    return len({of[ARM] for of in keys}) == len(keys)


def require_search(_: Sequence[Mapping[str, Any]], __: str | None) -> None:
    """Raise `FigureError`: a study with arms has no trials, and a search draws them unasked."""
    raise FigureError(NO_SEARCH)


def asked_for(name: str) -> Wanted:
    """Read the name of a measure, or raise `FigureError`."""
    try:
        return wanted(name)
    except ValueError as error:
        raise FigureError(f"sweep: {error}") from None


def varied_of(keys: Sequence[Mapping[str, Any]]) -> str:
    """Return the key of the setting that arms with these keys vary."""
    varied = [key for key in (keys[0] if keys else {}) if key != ARM]
    if keys and all(list(of) == [ARM] for of in keys) and _of_one(keys):
        raise FigureError(
            "sweep draws a setting that a study varies, and this study varies none; write one "
            "into the table [vary] of its file, as in queue.mark = [10, 20, 40], and run it again"
        )
    if not varied or any(list(of) != [ARM, *varied] for of in keys):
        raise FigureError("sweep needs the directory of one study that varies a setting")
    settings = {tuple(map(str, (of[key] for key in varied))) for of in keys}
    if CALLED in varied and len(settings) == len({of[CALLED] for of in keys}):
        varied = [CALLED]
    if len(varied) > 1:
        raise FigureError(f"sweep draws one varied setting, and this study has {', '.join(varied)}")
    return varied[0]

"""From a study to its runs."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from linkpool import _core
from linkpool.figures.kinds import KINDS
from linkpool.loading import inline, read_text
from linkpool.study.cache import Cache, Entry
from linkpool.study.measures import wanted
from linkpool.study.model import ARM, Arm, Study, StudyError, flatten
from linkpool.study.point import Keys, Point
from linkpool.study.toml import dumps

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def points_of(study: Study) -> list[Point]:
    """Return every run of a study: arm by arm, in each the varied values, for each the seeds.

    Raises:
        StudyError: a base scenario cannot be read.

    """
    return [point for arm in study.arms for point in _points_of_arm(study, arm)]


def entries_of(study: Study, cache: Cache) -> list[Entry]:
    """Read and check the scenario of every run, and return the place of its result.

    Raises:
        StudyError: a scenario cannot run, or has nothing that a measure is about; the message
            names the arm and the values.

    """
    return [_entry(study, point, cache) for point in points_of(study)]


def arms_of(study: Study) -> list[Keys]:
    """Return the keys of every combination of an arm and varied values."""
    return [_keys_of(study, arm, one) for arm in study.arms for one in study.variations()]


def _keys_of(study: Study, arm: Arm, variation: Mapping[str, Any]) -> Keys:
    names = study.names
    keys: Keys = {ARM: arm.name}
    return keys | {key: names[key][inline(value)] for key, value in variation.items()}


def documents(study: Study) -> list[dict[str, Any]]:
    """Return the base scenarios of a study as they are read, each once.

    Raises:
        StudyError: one cannot be read.

    """
    texts = dict.fromkeys(_base(study, arm)[0] for arm in study.arms)
    return [tomllib.loads(text) for text in texts]


def _points_of_arm(study: Study, arm: Arm) -> Iterator[Point]:
    text, file = _base(study, arm)
    written = _keys(text)
    for variation in study.variations():
        keys = _keys_of(study, arm, variation)
        settings = tuple((k, inline(v)) for k, v in {**arm.settings(), **variation}.items())
        _require_recorded(study, written, settings, Point(keys, text, 0).name)
        for seed in study.seed_list:
            yield Point(keys, text, seed, file=file, settings=settings)


def _base(study: Study, arm: Arm) -> tuple[str, str]:
    """Return the text of the base scenario of an arm, and the file that it stands in."""
    base = study.base if arm.base is None else arm.base
    if isinstance(base, Mapping):
        return dumps(base), str(_own_file(study))
    path = study.folder / base
    key = "base" if arm.base is None else f"arm {arm.name!r}: base"
    try:
        return read_text(path), str(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text file (UTF-8)"
        raise StudyError(f"{where(study)}: {key}: cannot read {path}: {why}") from None


def _keys(text: str) -> list[str] | None:
    """Return the dotted keys of a base scenario; None if it is not TOML: loading it says why."""
    try:
        return list(flatten(tomllib.loads(text)))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _require_recorded(
    study: Study, written: list[str] | None, settings: tuple[tuple[str, str], ...], name: str
) -> None:
    """Raise `StudyError` if a measure or a figure needs a table that the scenario has not."""
    if written is None:
        return
    keys = [*written, *(key for key, _ in settings)]
    for of, one in study.named:
        needs = wanted(one).measure.needs
        if needs and not _any_within(keys, needs):
            tables = " or ".join(f"[{need}]" for need in needs)
            raise StudyError(
                f"{where(study)}: {of}: {one} needs {tables} in the scenario of {name}"
            )
    for kind, series in _series_of_figures(study.figures):
        if not _any_within(keys, (f"record.{series}",)):
            raise StudyError(
                f"{where(study)}: figures: {kind} needs [record.{series}] in the scenario of {name}"
            )


def _any_within(keys: list[str], tables: tuple[str, ...]) -> bool:
    return any(f"{key}.".startswith(f"{table}.") for key in keys for table in tables)


def _series_of_figures(figures: list[str]) -> list[tuple[str, str]]:
    """Return the time series that figures need, with the kind of each."""
    return [(kind, series) for kind in figures if (series := KINDS[kind].series) is not None]


def _entry(study: Study, point: Point, cache: Cache) -> Entry:
    try:
        return cache.entry(point)
    except _core.ScenarioError as error:
        run = f"{where(study)}: the run of {point.name}, seed {point.seed}:"
        if point.file != str(_own_file(study)):
            raise StudyError(f"{run}\n{error}") from None
        # Lines are those of the base as a file of its own, which nobody has seen.
        lines = (f"base.{key}: {what}" if key else what for _, _, key, what in error.errors)
        raise StudyError("\n".join([run, *lines])) from None


def _own_file(study: Study) -> Path:
    return study.file or study.folder / f"{study.name}.toml"


def where(study: Study) -> str:
    """Name the file of a study, for error messages."""
    return str(study.file) if study.file is not None else "the study"

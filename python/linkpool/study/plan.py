"""A study that was read and checked: its runs, and which of them are made."""

from dataclasses import dataclass
from pathlib import Path

from linkpool.figures.kind import FigureError
from linkpool.figures.kinds import KINDS
from linkpool.study.cache import CACHE, Cache, Entry, Make, Notice
from linkpool.study.model import Study, StudyError
from linkpool.study.parts import require_parts
from linkpool.study.points import arms_of, entries_of, where


@dataclass(frozen=True)
class Plan:
    """A study that was read and checked, and what of it is there already.

    Attributes:
        study: the study.
        out: the directory in which its own is.
        cache: where its runs are.
        entries: its runs, in order of their keys.

    """

    study: Study
    out: Path
    cache: Cache
    entries: list[Entry]

    @classmethod
    def of(
        cls,
        study: Study,
        out: Path,
        notice: Notice | None = None,
        make: Make | None = None,
        run_code: bool = True,
    ) -> "Plan":
        """Read and check the scenario of every run.

        Args:
            study: the study.
            out: the directory in which its own is, and the folder of all runs.
            notice: is told which runs are damaged.
            make: makes the runs; None: this process does.
            run_code: run the code in Python that scenarios bring.

        Raises:
            StudyError: a scenario cannot run, or none has the part that a measure names.

        """
        _require_drawable(study)
        cache = Cache(out / CACHE, notice, make, run_code)
        entries = entries_of(study, cache)
        require_parts(study, entries, where(study))
        return cls(study, out, cache, entries)

    @property
    def place(self) -> Path:
        """The directory of what comes of it."""
        return self.out / self.study.name

    @property
    def missing(self) -> list[Entry]:
        """The runs that are still to be made."""
        return [entry for entry in self.entries if not self.cache.has(entry)]


def require_kinds(study: Study) -> None:
    """Raise `StudyError` unless there are figures of the kinds that a study names."""
    for name in study.figures:
        if name not in KINDS:
            there = ", ".join(KINDS)
            raise StudyError(
                f"{where(study)}: figures: no kind of figure {name!r}; there are {there}"
            )


def _require_drawable(study: Study) -> None:
    """Raise `StudyError` if it is known before any run that a figure cannot be drawn."""
    if not study.figures:
        return
    require_kinds(study)
    keys = arms_of(study)
    for name in study.figures:
        kind = KINDS[name]
        try:
            if kind.of_one and len(keys) > 1:
                raise FigureError(f"{name} is about one result, and this study has {len(keys)}")
            kind.require(keys, study.measures[0])
        except FigureError as error:
            raise StudyError(f"{where(study)}: figures: {error}") from None

"""An experiment in the book: its record, its data, and its claims as the data gives them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from linkpool.book.condense import AS_MEASURED, condensed
from linkpool.manifest import DamagedError, Manifest
from linkpool.study.claims import Claim
from linkpool.study.experiment import Experiment, with_seeds
from linkpool.study.judge import judge
from linkpool.study.record import NAME as RECORD
from linkpool.study.record import NoRecordError, Record
from linkpool.study.reproduce import shorten

DPI = 90
"""Dots per inch of figures: small files that can be read."""


_UNREADABLE = (
    *(OSError, ValueError, TypeError, KeyError, RecursionError),
    pl.exceptions.PolarsError,
)
"""The errors of a record or of data that is damaged."""


class BookError(ValueError):
    """The book, or what is to be put into it, is not as it must be; the message says where."""


@dataclass(frozen=True)
class Entry:
    """An experiment as the book has it.

    Attributes:
        experiment: the experiment as it was run: shortened, if it was.
        record: how it was run.
        is_full: nothing was cut: neither seeds nor anything else.
        form: how the data differs from what was measured, in words.
        data: the data.
        claims: its claims. Condensed data gives the verdicts; the measured values are those of the
            complete data, as long as the claim is the one that was judged by it.
        by_condensed: the claims of which nothing is known from the complete data.

    """

    experiment: Experiment
    record: Record
    is_full: bool
    form: str
    data: pl.DataFrame
    claims: list[Claim]
    by_condensed: tuple[str, ...] = ()

    @property
    def cut(self) -> str:
        """Say what was cut, as figures and notes do; empty if nothing was."""
        return self.record.shortened


def read(experiment: Experiment, book: Path) -> Entry:
    """Return what the book has of an experiment, after a look at its manifest.

    Raises:
        BookError: it has nothing of it, or not what its manifest says.

    """
    data, about = _files(experiment, book)
    try:
        manifest = Manifest.read(book)
        for file in (data, about):
            manifest.check_file(book, file.name)
    except DamagedError as error:
        raise BookError(str(error)) from None
    return read_unsealed(experiment, book)


def read_unsealed(experiment: Experiment, book: Path) -> Entry:
    """Return what the book has of an experiment, while the book is being written.

    Raises:
        BookError: it has nothing of it, or nothing that can be read.

    """
    return _entry(experiment, *_files(experiment, book))


def _files(experiment: Experiment, book: Path) -> tuple[Path, Path]:
    data, about = (book / f"{experiment.id}.{kind}" for kind in ("parquet", "json"))
    if not data.exists() or not about.exists():
        raise BookError(
            f"{book} has no data of {experiment.id}; name the folder of the book of results by "
            "--book, or run the experiment"
        )
    return data, about


def _entry(experiment: Experiment, data: Path, about: Path) -> Entry:
    try:
        content = json.loads(about.read_text(encoding="utf-8"))
        record, form = Record.of(content), str(content["form"])
        complete = [Claim.of(claim) for claim in content.get("claims", [])]
        rows = pl.read_parquet(data)
    except _UNREADABLE as error:
        raise BookError(f"{data.with_suffix('')}: cannot be read: {error}") from None
    _check_columns(experiment, data, rows)
    as_run = run_of(experiment, record)
    judged = judge(as_run, rows)
    claims, anew = (judged, ()) if form == AS_MEASURED else _of_complete(judged, complete)
    return Entry(as_run, record, _is_full(experiment, record), form, rows, claims, anew)


def _of_complete(
    judged: Sequence[Claim], complete: Sequence[Claim]
) -> tuple[list[Claim], tuple[str, ...]]:
    """Return claims as complete data gave them, and the ids of those that are not among these.

    A claim that says something else, or is judged by another criterion, is another claim.
    """
    known = {claim.declared(): claim for claim in complete}
    anew = tuple(claim.id for claim in judged if claim.declared() not in known)
    return [known.get(claim.declared(), claim) for claim in judged], anew


def _check_columns(experiment: Experiment, file: Path, data: pl.DataFrame) -> None:
    differ = {column.name for column in experiment.columns} ^ set(data.columns)
    if differ:
        raise BookError(f"{file}: of another version: column {sorted(differ)[0]}")


def run_of(experiment: Experiment, record: Record) -> Experiment:
    """Return an experiment as a record says that it was run."""
    return shorten(with_seeds(experiment, record.of_seeds), record.scale)[0]


def put(experiment: Experiment, reproduction: Path, book: Path) -> bool:
    """Put data and record of a reproduction into the book, in place of what it has of it.

    Returns:
        False: nothing was changed, as the reproduction is not full, and the book has a full one.

    Raises:
        BookError: the reproduction is not whole, or of another version.
        TooMuchDataError: its data cannot be made small enough.

    """
    try:
        Manifest.read(reproduction).check(reproduction, contents=True)
        record = Record.read(reproduction / RECORD)
    except (DamagedError, NoRecordError) as error:
        raise BookError(str(error)) from None
    as_run = run_of(experiment, record)
    if not _is_full(experiment, record) and _has_full(experiment, book):
        return False
    data = pl.read_parquet(reproduction / "data.parquet")
    _check_columns(experiment, reproduction / "data.parquet", data)
    claims = judge(as_run, data)
    said = verdicts(claims)
    content, form = condensed(data, lambda coarse: verdicts(as_run.claims(coarse)) == said)
    book.mkdir(parents=True, exist_ok=True)
    (book / f"{experiment.id}.parquet").write_bytes(content)
    about: dict[str, Any] = {**asdict(record), "form": form}
    if form != AS_MEASURED:
        about["claims"] = [claim.as_dict() for claim in claims]
    text = json.dumps(about, indent=1, ensure_ascii=False)
    (book / f"{experiment.id}.json").write_text(f"{text}\n", encoding="utf-8")
    return True


def _is_full(experiment: Experiment, record: Record) -> bool:
    return run_of(experiment, record).extent() == experiment.extent()


def _has_full(experiment: Experiment, book: Path) -> bool:
    file = book / f"{experiment.id}.json"
    return file.exists() and _is_full(experiment, Record.read(file))


def draw(entry: Entry) -> bytes:
    """Return the figure as PNG, as the data of the book gives it."""
    from linkpool.study import style  # here, as matplotlib takes a second to load

    with style.context():
        figure = entry.experiment.draw(entry.data)
        if entry.cut:
            style.remark(figure, f"shortened: {entry.cut}")
        return style.render(figure, "png", DPI)


def verdicts(claims: Sequence[Claim]) -> dict[str, str]:
    """Return the verdict of each claim."""
    return {claim.id: claim.verdict.value for claim in claims}

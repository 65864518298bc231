"""What came of a study: its data, its runs, and statistics over the seeds.

from linkpool.study import StudyResult

answer = StudyResult("results/transports")
answer.data          # a row per run, measure, part and statistic
answer.statistics    # the same over the seeds, with intervals and ratios
answer.scan("flows") # the flows of all runs
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from linkpool import manifest
from linkpool.manifest import DamagedError, verify
from linkpool.notices import unmet_changes
from linkpool.publish import Kind
from linkpool.result import Result, ResultError
from linkpool.study.absent import absent, whole_of
from linkpool.study.answer import answer, asked
from linkpool.study.comparison import Comparison
from linkpool.study.found import SEARCH, Found
from linkpool.study.measuring import SCHEMA, measure
from linkpool.study.model import SEED, Study, name_of
from linkpool.study.remarks import COUNTS, equal_runs, remarks
from linkpool.study.statistics import over_seeds, pooled
from linkpool.study.verdicts import Verdict, judge

FRONT_ALT = "Trials of the search, and their Pareto front"
"""What the figure of a search shows."""

STUDY, DATA, RUNS = "study.toml", "data.parquet", "runs.parquet"

FIGURE = "figure-{}"
"""The name of a figure of a kind, without its suffix; its data is beside it."""

REPORT = "report.html"
"""The page about a study, if it asks for one."""

SET = Kind(
    "a study",
    frozenset({STUDY, DATA, RUNS}),
    frozenset({STUDY, DATA, RUNS, REPORT, SEARCH, manifest.NAME}),
    (FIGURE.format("*.svg"), FIGURE.format("*.csv")),
)
"""The directory that a study writes; its runs are beside it."""


class StudyResult:
    """The data of a study, read from the directory that it wrote.

    Columns that tell its runs apart are `arm`, one for each varied key, named as the key, and
    `seed`; `study.keys` names all but the last.

    Attributes:
        dir: the directory.
        run_code: that of its results, see `Result`.

    >>> import tempfile, linkpool
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = linkpool.Study(base="docs/workloads/incast.toml", seeds=2, measures=["jain"])
    ...     answer = study.run(folder)
    ...     answer.data.height, answer.statistics.select("measure", "seeds").row(0)
    (2, ('jain', 2))

    Raises:
        ResultError: the directory is not that of a study, or it is damaged.

    """

    def __init__(self, dir: str | Path, *, run_code: bool = False) -> None:  # noqa: A002
        self.dir = Path(dir)
        self.run_code = run_code
        if not is_study(self.dir):
            raise ResultError(
                f"{self.dir} is not the result of a study; make one: linkpool study run FILE.toml"
            )
        try:
            verify(self.dir)
        except DamagedError as error:
            raise ResultError(f"{error}; repeat linkpool study run FILE.toml") from None

    def __repr__(self) -> str:
        return f"StudyResult({str(self.dir)!r})"

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        """Pickle the path: another process may have another working directory."""
        return partial(StudyResult, run_code=self.run_code), (self.dir.resolve(),)

    @cached_property
    def study(self) -> Study:
        """The study; `base` is as its file had it."""
        return Study.parse((self.dir / STUDY).read_text(encoding="utf-8"), self.dir / STUDY)

    @cached_property
    def found(self) -> Found | None:
        """What a study that searched has found; None: it did not search.

        Its `trials` are a row per trial; `study`, `data` and `runs` are of those on the front.
        """
        return Found.read(self.dir, len(self.study.seed_list))

    @cached_property
    def data(self) -> pl.DataFrame:
        """What was measured: a row per run, measure, part and statistic.

        Columns: those of `study.keys`, `seed`, then `measure`, `part` (`all`, a class of sizes, a
        pair of layers or a label), `statistic` (`mean`, `p99`, ...), `unit` and `value` (null: a
        percentile of fewer values than it needs). Of a sample also `count`, its number of values,
        and `unfinished`, how many of them are lower bounds, as a flow or job had not finished when
        the run ended (null: no value can be); `at_least`: `value` is a lower bound.
        """
        return self._read(DATA, SCHEMA)

    @cached_property
    def runs(self) -> pl.DataFrame:
        """A row per run: `study.keys`, `seed`, `key` (of the run) and `dir` (of its result).

        And what was counted in it: `flows` with a size, `unfinished` ones, data `segments`, and
        `retransmits` among these.
        """
        runs = self._read(RUNS, COUNTS)
        here = self.dir.resolve()
        return runs.with_columns(
            pl.col("dir").map_elements(lambda path: str((here / path).resolve()), pl.String)
        )

    @cached_property
    def statistics(self) -> pl.DataFrame:
        """The data over the seeds: a row per combination of keys, measure, part and statistic.

        Columns: those of `study.keys`, `measure`, `part`, `statistic` and `unit`, then

        - `seeds`: how many have a value. `mean` over these, and its 95% interval `low` to `high`.
          The mean of a measure that is compared by ratios (`Measure.by_ratio`) is geometric, with
          the t interval of the logarithms; that of others is arithmetic, with Student's interval.
        - `at_least`: `mean` is a lower bound, as values are; there is no interval then.
        - `ratio` to the baseline, paired by seed, and its interval `ratio_low` to `ratio_high`: of
          geometric means, or of arithmetic ones (Fieller). `ratio_bound`: `>=` or `<=`, it is at
          least or at most `ratio`, as one side is a lower bound; null: it is `ratio`.
        - `pairs`: seeds of which both have a value; `higher` and `lower`: seeds of which the value
          is above that of the baseline for certain, or below.
        - `p`: the p-value of the difference, by the paired t test of the values or logarithms, or
          by the sign test where values are lower bounds; adjusted for the number of comparisons in
          this table (Holm). `differs`: it is below 0.05.
        - `count_least`, `count_most`: how many values a sample had in a run; `count`, `unfinished`:
          in all runs, and how many of them are lower bounds. Null: not a sample.
        - `why`: why the value, the ratio or its interval is missing, if seeds do not say so.

        Interval ends are null where one seed is all there is, the ratio is where there is no
        baseline.
        """
        return over_seeds(self.data, self.study.keys, self.study.reference)

    @cached_property
    def pooled(self) -> pl.DataFrame:
        """Percentiles of the flows of all seeds together, with 95% bootstrap intervals.

        Columns: those of `study.keys`, `measure`, `part`, `statistic`, `unit`, `count` (of flows),
        `unfinished` (of these), `value`, `low`, `high`, `at_least` (`value` is a lower bound, and
        `low` may be) and `why` (there is no value). The flows count as independent, which flows of
        one run are not quite: the intervals over seeds in `statistics` make no such assumption.
        """
        return pooled(self.study, self.results())

    def results(self, **keys: object) -> Iterator[tuple[dict[str, Any], Result]]:
        """Give the keys (seed included) and the result of each run, or of those with these keys.

        For a key with dots: `results(**{"queue.mark": 20})`.
        """
        names = [*self.study.keys, SEED]
        for name in keys:
            if name not in names:
                raise KeyError(f"{name} does not vary in this study; {', '.join(names)} do")
        for row in self.runs.iter_rows(named=True):
            if all(row[name] == value for name, value in keys.items()):
                yield (
                    {name: row[name] for name in names},
                    Result(row["dir"], run_code=self.run_code),
                )

    def arms(self) -> dict[str, list[Result]]:
        """Return the results of all seeds for each combination of keys, by its name."""
        found: dict[str, list[Result]] = {}
        for keys, result in self.results():
            found.setdefault(self._name(keys), []).append(result)
        return found

    def _name(self, row: Mapping[str, Any]) -> str:
        """Name an arm at its settings; of a zip with names by these alone."""
        told = self.study.told
        return name_of({key: row[key] for key in self.study.keys if key not in told})

    def measure(self, names: Sequence[str]) -> pl.DataFrame:
        """Measure the runs again: what `data` would be with these measures.

        Raises:
            ValueError: there is no such measure.
            NotRecordedError: the runs did not record what it is about.

        """
        frames = []
        for keys, result in self.results():
            columns = _literals(keys)
            frames.append(measure(result, names).select(*columns, pl.all()))
        return pl.concat(frames, how="vertical_relaxed")

    @cached_property
    def verdicts(self) -> list[Verdict]:
        """What became of the claims of the study, by arm and setting; empty: it has none."""
        study = self.study
        names = list(dict.fromkeys(whole_of(claim.measure) for claim in study.claims))
        return judge(study.claims, self.measure(names), study.keys) if names else []

    def scan(self, table: str) -> pl.LazyFrame:
        """Return a table of all runs, lazily; `study.keys` and `seed` stand before its columns."""
        frames = []
        for keys, result in self.results():
            columns = _literals(keys)
            frames.append(result.scan(table).select(*columns, pl.all()))
        return pl.concat(frames)

    @cached_property
    def absent(self) -> list[str]:
        """Say of which measures that the study asks for no run has a value."""
        return absent(self.study.measures, self.data, self.measure)

    def remarks(self) -> list[str]:
        """Say how many flows had not finished, and what else makes numbers doubtful.

        That is where more was sent again than was not, where a seed changes nothing, and which
        changes of links met no packet.
        """
        rows = self.runs.iter_rows(named=True)
        named = ((self._name(row), row) for row in rows)
        return [*remarks(named), *equal_runs(self.arms()), *self._unmet()]

    def _unmet(self) -> list[str]:
        """Say by arm, by its first such run, which changed links met no packet in the whole run."""
        found = []
        for name, results in self.arms().items():
            there = [result for result in results if result.dir.is_dir()]
            unmet = [notices for result in there if (notices := unmet_changes(result))]
            runs = f" (so in {len(unmet)} of {len(there)} runs)" if len(there) > 1 else ""
            found += [f"{name}: {notice}{runs}" for notices in unmet[:1] for notice in notices]
        return found

    def _read(self, file: str, columns: Iterable[str]) -> pl.DataFrame:
        table = pl.read_parquet(self.dir / file)
        missing = [name for name in columns if name not in table.columns]
        if missing:
            raise ResultError(
                f"{self.dir}: an earlier version of linkpool made this study: {file} has no column "
                f"{missing[0]}; repeat linkpool study run FILE.toml"
            )
        return table

    def answer(self) -> list[str]:
        """Say which arm is best, by how much, and how sure that is; a sentence per setting.

        Of a search: which trials are best, and their settings.
        """
        if self.found is not None:
            return self.found.answer()
        return answer(self.study, self.data)

    def _repr_html_(self) -> str:
        """Show in a notebook what was asked, the answer, claims, what did not finish, a table."""
        title = self.study.title or self.study.name
        question = asked(self.study) if self.found is None else self.found.asked()
        figure = "" if self.found is None else f'<img alt="{FRONT_ALT}" src="{self.found.image}">'
        answers = "".join(f"<li>{escape(line)}</li>" for line in self.answer())
        answers = f"<ul>{answers}</ul>" if answers else ""
        claims = "".join(
            f"<li>{escape(f'{one.holds.value}: {one.claim}: {one.of} {one.measured}')}</li>"
            for one in self.verdicts
        )
        claims = f"<p>claims</p><ul>{claims}</ul>" if claims else ""
        said = "".join(f"<p>{escape(line)}</p>" for line in [*self.absent, *self.remarks()])
        study = self.study
        comparison = Comparison(self.statistics, tuple(study.keys), study.reference)
        notes = [*comparison.legend(len(study.seed_list)), *comparison.notes()]
        below = "".join(f"<p><small>{escape(note)}</small></p>" for note in notes)
        whole = f"<details><summary>statistics</summary>{comparison.html()}{below}</details>"
        return (
            f"<h4>{escape(title)}</h4><p>{escape(question)}</p>"
            f"{answers}{figure}{claims}{said}{whole}"
        )


def _literals(keys: Mapping[str, Any]) -> list[pl.Expr]:
    """Return keys as columns, of the types that `data` gives them."""
    types = {int: pl.Int64(), float: pl.Float64(), str: pl.String()}
    return [pl.lit(value, types[type(value)]).alias(name) for name, value in keys.items()]


def is_study(directory: Path) -> bool:
    """Tell whether a directory is what a study wrote."""
    return SET.is_one(directory)

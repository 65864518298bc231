"""Arms side by side: rows are measures, columns are arms.

As text in 80 columns, LaTeX, Markdown or HTML; `linkpool.study.cell` writes their cells.

Where a study varies settings, the rows of each setting stand together under its name.
"""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import zip_longest
from typing import Any

import polars as pl

from linkpool.result import Result
from linkpool.study.cell import Cell
from linkpool.study.measures import ALL, MEASURES
from linkpool.study.measuring import measure
from linkpool.study.model import ARM, CALLED, SEED, name_of
from linkpool.study.statistics import OVER_SEEDS, POOLED, WHAT, over_seeds
from linkpool.units import show_count

COMPARED = (
    "flows",
    "goodput.mean",
    "jain",
    "delivered",
    "fct@all",
    "slowdown.p50",
    "slowdown.p99",
    "utilisation.mean",
    "loss@all",
    "timeouts",
    "retransmissions.total",
)
"""What is compared if nothing is asked for."""

GAP = 2
"""Spaces between two columns."""

NAME = 22
"""A name of an arm that is longer goes over several lines."""


@dataclass(frozen=True)
class Comparison:
    """Statistics of several arms, side by side.

    Attributes:
        table: a row per combination of keys, measure, part and statistic, with the columns of
            `StudyResult.statistics`.
        keys: the columns of `table` that tell its runs apart.
        reference: what ratios are to, by key. These keys make the columns of the comparison, and
            each combination of the others a group of rows. Empty: all keys make columns.

    """

    table: pl.DataFrame
    keys: tuple[str, ...]
    reference: Mapping[str, Any]

    @classmethod
    def of_results(
        cls, results: Sequence[tuple[str, Result]], measures: Sequence[str] = COMPARED
    ) -> "Comparison":
        """Compare results of single runs by name, with ratios to the first."""
        rows = [
            measure(result, measures).select(
                pl.lit(name).alias(ARM), pl.lit(0).alias(SEED), pl.all()
            )
            for name, result in results
        ]
        reference = {ARM: results[0][0]}
        return cls(over_seeds(pl.concat(rows), [ARM], reference), (ARM,), reference)

    @classmethod
    def of_pooled(
        cls, table: pl.DataFrame, keys: tuple[str, ...], reference: Mapping[str, Any]
    ) -> "Comparison":
        """Compare percentiles of pooled samples, as in `StudyResult.pooled`; without ratios."""
        without = {
            name: pl.lit(None, type_) for name, type_ in OVER_SEEDS.items() if name not in POOLED
        }
        without |= {"mean": pl.col("value"), "seeds": pl.lit(1, pl.UInt32())}
        without |= dict.fromkeys(("count_least", "count_most"), pl.col("count"))
        return cls(table.with_columns(**without), keys, reference)

    def cell(self, row: Mapping[str, Any]) -> Cell:
        """Write a row of `table`."""
        is_baseline = all(row[key] == to for key, to in self.reference.items())
        return Cell.of(row, is_baseline, self._seeds)

    @cached_property
    def shown(self) -> pl.DataFrame:
        """The rows of `table` without those of a class of sizes that all flows of all runs are in.

        They would repeat the rows of the whole run.
        """
        return self.table.filter(~pl.col("part").is_in(self._classes_of_all))

    @cached_property
    def _classes_of_all(self) -> list[str]:
        """The parts whose samples are those of the whole run, in every run and of every measure."""
        what = ["measure", "statistic"]
        whole = self.table.filter(part=ALL).select(*self.keys, *what, whole="count")
        rows_of_all = whole.group_by(what).agg(of_all=pl.len())
        both = self.table.join(whole, on=[*self.keys, *what]).filter(pl.col("part") != ALL)
        repeats = (
            both.group_by("part", *what, maintain_order=True)
            .agg(rows=pl.len(), equal=(pl.col("count") == pl.col("whole")).fill_null(False).all())
            .join(rows_of_all, on=what, maintain_order="left")
            .group_by("part", maintain_order=True)
            .agg((pl.col("equal") & (pl.col("rows") == pl.col("of_all"))).all())
        )
        return repeats.filter("equal")["part"].to_list()

    @property
    def _seeds(self) -> int:
        return int(str(self.table["seeds"].max() or 0))

    def legend(self, seeds: int) -> list[str]:
        """Say what the numbers are, of so many seeds; nothing, if there is none."""
        if self.table.is_empty():
            return []
        to = f"× is the ratio to {name_of(self.reference)}" if self.reference else ""
        if len(self.reference) < len(self.keys):
            to += " at the same settings" if to else ""
        if seeds == 1:
            return [f"one seed: there is no interval{'; ' if to else ''}{to}"]
        of_table = self.table["measure"].unique(maintain_order=True)
        by_ratio = [name for name in of_table if MEASURES[name].by_ratio]
        others = len(by_ratio) < len(of_table)
        said = []
        if by_ratio:
            *first, last = by_ratio
            names = f"{', '.join(first)} and {last}" if first else last
            one = f"of {names} the geometric mean" if others else "geometric mean"
            said.append(f"{one} over {seeds} seeds (its 95% interval: Student's t of logarithms)")
        if others:
            one = "of the others the mean" if by_ratio else "mean"
            said.append(f"{one} over {seeds} seeds ± its 95% interval (Student's t)")
        if to:
            kinds = (["t of logarithms"] if by_ratio else []) + (["Fieller"] if others else [])
            said.append(f"{to}, paired by seed (its 95% interval: {' or '.join(kinds)})")
        return said

    def notes(self) -> list[str]:
        """Say what marks of the cells mean, as far as the comparison has them."""
        said = [
            f"every flow is in the class {part}: its rows would repeat those of all flows"
            for part in self._classes_of_all
        ]
        if self.table["at_least"].any():
            said.append(
                "≥: at least so much, as flows were unfinished when the run ended; each counts as "
                "old as it was then"
            )
        verdicts = self.table["differs"].drop_nulls()
        among = f"all {verdicts.len()} comparisons together (Holm)"
        if verdicts.len() == 1:
            among = "the only comparison"
        if verdicts.any():
            said.append(f"*: differs from the baseline, at 95% confidence for {among}")
        elif verdicts.len():
            said.append(f"no difference stands at 95% confidence for {among}")
        if self.table["count"].is_not_null().any():
            runs = "all seeds together" if self._is_pooled else "one run"
            said.append(f"n: how many values of {runs} it is of")
        return said

    @property
    def _is_pooled(self) -> bool:
        return "value" in self.table.columns

    def text(self, width: int = 80) -> str:
        """Return the comparison as a text of at most so many columns; more arms go below."""
        if self.table.is_empty():
            return "no run has a value of these measures"
        grid = self._grid()
        labels = [label for group in grid.groups for label in group.labels()]
        first = max(len(label) for label, _ in labels)
        columns = [(name, grid.column(name)) for name in grid.columns]
        blocks = []
        for group in _fitting(columns, width - first):
            lines = []
            of_group = iter(zip(*(cells for _, cells in group), strict=True))
            headings = _headings([heading for heading, _ in group])
            lines += [_line("", names, first, group) for names in headings]
            lines.append("─" * len(lines[0]))
            for label, is_heading in labels:
                if is_heading:
                    lines.append(label)
                    continue
                cells = next(of_group)
                for i in range(max(len(cell) for cell in cells)):
                    texts = [cell[i] if i < len(cell) else "" for cell in cells]
                    lines.append(_line(label if i == 0 else "", texts, first, group))
            blocks.append("\n".join(line.rstrip() for line in lines))
        return "\n\n".join(blocks)

    def latex(self) -> str:
        """Return the comparison as a LaTeX table, for the package booktabs.

        The lines of a cell are lines of the table, as columns of whole cells would not fit a page.
        """
        grid = self._grid()
        lines = [
            rf"\begin{{tabular}}{{l{'r' * len(grid.columns)}}}",
            r"\toprule",
            " & ".join(["", *map(_escape, grid.columns)]) + r" \\",
        ]
        for group in grid.groups:
            lines.append(r"\midrule")
            if group.name:
                span = len(grid.columns) + 1
                lines.append(rf"\multicolumn{{{span}}}{{l}}{{{_escape(group.name)}}} \\")
            for what, cells in group.rows:
                columns = [_wrapped(grid.cell(name, cells)) for name in grid.columns]
                for texts in zip_longest([_name(what)], *columns, fillvalue=""):
                    row = " & ".join(_escape(text).translate(_IN_LATEX) for text in texts)
                    lines.append(row + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def markdown(self) -> str:
        """Return the comparison as a table in Markdown, as GitHub and MkDocs read it."""
        grid = self._grid()
        rows = [["", *grid.columns], ["---", *["---:"] * len(grid.columns)]]
        lines = [_cells(map(in_markdown, rows[0])), _cells(rows[1])]
        for group in grid.groups:
            if group.name:
                lines.append(_cells([f"**{in_markdown(group.name)}**", *[""] * len(grid.columns)]))
            for what, cells in group.rows:
                texts = (grid.cell(name, cells).texts() for name in grid.columns)
                shown = ("<br>".join(map(in_markdown, of)) for of in texts)
                lines.append(_cells([in_markdown(_name(what)), *shown]))
        return "\n".join(lines)

    def html(self) -> str:
        """Return the comparison as a table in HTML."""
        grid = self._grid()
        head = "".join(f"<th>{escape(name)}</th>" for name in grid.columns)
        rows = [f"<tr><th></th>{head}</tr>"]
        for group in grid.groups:
            if group.name:
                span = len(grid.columns) + 1
                rows.append(f'<tr><th colspan="{span}">{escape(group.name)}</th></tr>')
            for what, cells in group.rows:
                texts = (grid.cell(name, cells).texts() for name in grid.columns)
                shown = ("<br>".join(map(escape, of)) for of in texts)
                columns = "".join(f"<td>{of}</td>" for of in shown)
                rows.append(f"<tr><th>{escape(_name(what))}</th>{columns}</tr>")
        return f"<table>{''.join(rows)}</table>"

    def _grid(self) -> "_Grid":
        """Sort the rows of the table into groups, rows and columns."""
        keys = [key for key in self.keys if key not in self._named()]
        across = [key for key in keys if key in self.reference] or keys
        down = [key for key in keys if key not in across]
        found: dict[str, dict[tuple[Any, ...], dict[str, dict[str, Any]]]] = {}
        columns: dict[str, None] = {}
        if self.reference:
            columns[name_of({key: self.reference[key] for key in across})] = None
        for row in self.shown.iter_rows(named=True):
            name = name_of({key: row[key] for key in across})
            columns[name] = None
            group = found.setdefault(name_of({key: row[key] for key in down}) if down else "", {})
            group.setdefault(tuple(row[of] for of in WHAT), {})[name] = row
        groups = [
            _Group(
                name,
                [
                    ({**dict(zip(WHAT, what, strict=True)), "n": _count(cells)}, cells)
                    for what, cells in of.items()
                ],
            )
            for name, of in found.items()
        ]
        return _Grid(list(columns), groups, self._seeds)

    def _named(self) -> set[str]:
        """Return the keys whose values go with the scenario's `name`, which then says enough."""
        others = [key for key in self.keys if key not in (CALLED, ARM)]
        if CALLED not in self.keys or not others:
            return set()
        each = self.table.select(pl.col(others).n_unique().over(CALLED).max()).row(0)
        return {key for key, values in zip(others, each, strict=True) if values == 1}


@dataclass(frozen=True)
class _Group:
    """Rows that have a combination of keys in common; the name is empty if all rows have.

    Each row says what it is about, and has a cell for each column, by name.
    """

    name: str
    rows: list[tuple[dict[str, Any], dict[str, dict[str, Any]]]]

    def labels(self) -> list[tuple[str, bool]]:
        """Return the first cells of the rows; the second value says: a heading for rows below."""
        labels = _labels([what for what, _ in self.rows])
        if not self.name:
            return labels
        return [(self.name, True), *((f"  {label}", heading) for label, heading in labels)]


@dataclass(frozen=True)
class _Grid:
    """What stands where in a comparison: the columns by name, the first of which ratios are to.

    A cell that has a value from fewer than `seeds` seeds says from how many.
    """

    columns: list[str]
    groups: list[_Group]
    seeds: int

    @property
    def first(self) -> str:
        return self.columns[0]

    def column(self, name: str) -> list[list[str]]:
        """Return the lines of the cells of a column."""
        rows = (cells for group in self.groups for _, cells in group.rows)
        return [_wrapped(self.cell(name, cells)) for cells in rows]

    def cell(self, name: str, cells: Mapping[str, dict[str, Any]]) -> Cell:
        """Return the cell of a column, given the cells of its row."""
        row = cells.get(name)
        return Cell("-") if row is None else Cell.of(row, name == self.first, self.seeds)


def _wrapped(cell: Cell) -> list[str]:
    """Return the lines of a cell; a ratio stands beside a value that has no interval."""
    texts = cell.texts()
    if texts[1:2] == [cell.ratio] and not cell.interval:
        texts[:2] = [" ".join(texts[:2])]
    return [
        line
        for text in texts
        for line in (textwrap.wrap(text, NAME) if text == cell.why else [text])
    ]


def _count(cells: Mapping[str, dict[str, Any]]) -> str:
    """Return how many values a row is of in a run, of all its cells; "" if it is of no sample."""
    least = [row["count_least"] for row in cells.values() if row["count_least"] is not None]
    most = [row["count_most"] for row in cells.values() if row["count_most"] is not None]
    if not least:
        return ""
    upto = f"-{show_count(max(most))}" if min(least) < max(most) else ""
    return f", n {show_count(min(least))}{upto}"


def _name(what: dict[str, Any]) -> str:
    part = "" if what["part"] == ALL else f", {what['part']}"
    return f"{what['measure']} {what['statistic']}{part}{what['n']}"


def _labels(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool]]:
    """Return the first cells of the rows; the second value says: a heading for the rows below."""
    labels: list[tuple[str, bool]] = []
    for i, what in enumerate(rows):
        alone = [row for row in rows if row["measure"] == what["measure"]] == [what]
        if alone:
            labels.append((_name(what), False))
            continue
        heading = f"{what['measure']} {what['statistic']}"
        before = rows[i - 1] if i else None
        same = [r for r in rows if _head(r) == _head(what)]
        if len(same) == 1:
            labels.append((_name(what), False))
            continue
        if before is None or _head(before) != _head(what):
            if what["part"] == ALL:
                labels.append((f"{heading}{what['n']}", False))
                continue
            labels.append((heading, True))
        labels.append((f"  {what['part']}{what['n']}", False))
    return labels


def _head(what: dict[str, Any]) -> tuple[str, str]:
    return what["measure"], what["statistic"]


def _fitting(
    columns: Sequence[tuple[str, list[list[str]]]], width: int
) -> list[list[tuple[str, list[list[str]]]]]:
    """Return the columns in groups, each of which fits so many characters; the first is in all."""
    groups: list[list[tuple[str, list[list[str]]]]] = []
    for column in columns:
        wide = _width(column) + GAP
        if not groups:
            groups.append([column])
        elif sum(_width(other) + GAP for other in groups[-1]) + wide <= width:
            groups[-1].append(column)
        elif _width(columns[0]) + GAP + wide <= width:
            groups.append([columns[0], column])
        else:
            groups.append([column])
    return groups


def _width(column: tuple[str, list[list[str]]]) -> int:
    heading, cells = column
    return max([min(len(heading), NAME), *(len(line) for cell in cells for line in cell)])


def _headings(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the lines of the headings; the last lines stand side by side."""
    wrapped = [textwrap.wrap(name, NAME) or [""] for name in names]
    height = max(map(len, wrapped))
    return list(zip(*([""] * (height - len(w)) + w for w in wrapped), strict=True))


def _line(
    label: str,
    texts: Sequence[str],
    first: int,
    group: Sequence[tuple[str, list[list[str]]]],
) -> str:
    cells = (
        " " * GAP + text.rjust(_width(column)) for text, column in zip(texts, group, strict=True)
    )
    return label.ljust(first) + "".join(cells)


def _cells(texts: Iterable[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(texts)} |"


def in_markdown(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


_IN_LATEX = str.maketrans({"±": r"$\pm$", "×": r"$\times$", "≥": r"$\ge$", "≤": r"$\le$"})


_SPECIAL = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "\\": r"\textbackslash{}",
    }
)
"""The ten characters that LaTeX's text mode does not print as they are."""


def _escape(text: str) -> str:
    return text.translate(_SPECIAL)

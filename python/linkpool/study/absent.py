"""Measures of which no run has a value: what is said of them, and what there is instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkpool.study.measures import DEFAULT, wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl


def absent(
    names: Sequence[str], data: pl.DataFrame, measured: Callable[[Sequence[str]], pl.DataFrame]
) -> list[str]:
    """Say of which measures no run has a value.

    Nobody has asked for the measures of a study that names none: of them nothing is said.

    Args:
        names: the measures, as `wanted` reads them.
        data: what was measured, with the columns of `measuring.SCHEMA`.
        measured: measures the same runs again, by names.

    """
    import polars as pl  # plans ask for words alone, and do without it

    if tuple(names) == DEFAULT:
        return []
    said = []
    for name in names:
        asked = wanted(name)
        of = data.filter(
            pl.col("measure") == asked.measure.name,
            pl.col("statistic").is_in(asked.statistics),
            *([] if asked.part is None else [pl.col("part") == asked.part]),
        )
        if of.is_empty():
            whole = measured([whole_of(name)])
            said.append(without(name, whole["part"].unique(maintain_order=True)))
    return said


def whole_of(name: str) -> str:
    """Return the name of a measure without its part.

    >>> whole_of("jct.p99@train")
    'jct.p99'
    """
    return name.partition("@")[0]


def without(name: str, parts: Iterable[str]) -> str:
    """Say that no run has a value of a measure, and of which parts of it one has.

    >>> without("jct.p99@trian", ["train", "serve"])
    'no run has a value of jct.p99@trian; there are jct.p99@train, jct.p99@serve'
    >>> without("loss@host, core", ["host, switch", "switch, host"])
    'no run has a value of "loss@host, core"; there are "loss@host, switch", "loss@switch, host"'
    """
    known = ", ".join(quoted(f"{whole_of(name)}@{part}") for part in parts)
    return f"no run has a value of {quoted(name)}" + (f"; there are {known}" if known else "")


def quoted(name: str) -> str:
    """Return a name of a measure as a list of them can have it: one with a comma in quotes.

    >>> quoted("jct.p99@train"), quoted("loss@host, switch")
    ('jct.p99@train', '"loss@host, switch"')
    """
    return f'"{name}"' if "," in name else name

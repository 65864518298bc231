"""Columns of the data of experiments, as each paper's file declares them."""

from linkpool.columns import Column
from linkpool.experiments.papers import PAPERS
from linkpool.study.experiment import nothing as nothing


def columns(folder: str, name: str) -> tuple[Column, ...]:
    """Return the columns of an experiment, or of what several have in common.

    >>> [column.name for column in columns("xmp", "goodputs")]
    ['pattern', 'scheme', 'seed', 'place', 'goodput_bps']
    """
    found: list[Column] = []
    for each in PAPERS[folder].columns[name]:
        found += columns(folder, each) if isinstance(each, str) else [Column(*each)]
    return tuple(found)

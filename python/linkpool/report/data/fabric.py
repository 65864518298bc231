"""The fabric as a picture: places of nodes, utilisation of links."""

from typing import Any

from linkpool import _core
from linkpool.report.data.numbers import rounded
from linkpool.result import Result
from linkpool.topology.fabric import Fabric
from linkpool.topology.layout import positions

MOST_NODES = 1200
"""Larger fabrics have no picture: links could not be distinguished."""


def fabric(result: Result) -> dict[str, Any] | str:
    """Return nodes and cables, or why there is no picture.

    Raises:
        ScenarioError: the scenario brings code, and nobody has said that it may run.

    """
    try:
        plan = result.load().plan()
    except (_core.ScenarioError, OSError) as error:
        if isinstance(error, _core.ScenarioError) and any(
            key.startswith("controls") for _, _, key, _ in error.errors
        ):
            raise
        return f"the scenario cannot be read again: {str(error).splitlines()[0]}"
    of = Fabric(plan)
    if len(of.names) > MOST_NODES:
        return f"the fabric has {len(of.names)} nodes, too many for a picture"
    places = positions(of)
    number = {name: i for i, name in enumerate(of.names)}
    links = result.links
    rows = [
        [
            number[row["from"]],
            number[row["to"]],
            row["rate_bps"],
            rounded(row["utilisation"], 4),
            row["drops"] + row["drops_down"] + row["drops_loss"],
            row["marks"],
            row["max_queue_pkts"],
        ]
        for row in links.iter_rows(named=True)
    ]
    return {
        "names": of.names,
        "layers": of.layers,
        "hosts": of.hosts,
        "at": [[rounded(float(x), 4), rounded(float(y), 4)] for x, y in places],
        "links": rows,
    }

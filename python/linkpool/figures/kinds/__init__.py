"""The kinds of figures, each in a file of its own."""

from linkpool.figures.kind import Kind
from linkpool.figures.kinds import (
    fct_cdf,
    goodput,
    queue_cdf,
    queues,
    rates,
    rtts,
    slowdown,
    sweep,
    utilisation,
    windows,
)

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        fct_cdf.KIND,
        slowdown.KIND,
        goodput.KIND,
        queue_cdf.KIND,
        utilisation.KIND,
        windows.KIND,
        rates.KIND,
        queues.KIND,
        rtts.KIND,
        sweep.KIND,
    )
}
"""By name, in the order in which help lists them."""

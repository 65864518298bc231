"""The kinds of figures, each drawn by a file of its own, which is loaded when it draws."""

from linkpool.figures.kind import Kind
from linkpool.figures.swept import require, require_search

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("fct-cdf", "linkpool.figures.kinds.fct_cdf:RECIPE"),
        Kind("slowdown", "linkpool.figures.kinds.slowdown:RECIPE"),
        Kind("goodput", "linkpool.figures.kinds.goodput:RECIPE"),
        Kind("queue-cdf", "linkpool.figures.kinds.queue_cdf:RECIPE", series="queue"),
        Kind("utilisation", "linkpool.figures.kinds.utilisation:RECIPE"),
        Kind("windows", "linkpool.figures.kinds.windows:RECIPE", series="cwnd", of_one=True),
        Kind("rates", "linkpool.figures.kinds.rates:RECIPE", series="rate", of_one=True),
        Kind("queues", "linkpool.figures.kinds.queues:RECIPE", series="queue", of_one=True),
        Kind("rtts", "linkpool.figures.kinds.rtts:RECIPE", series="rtt", of_one=True),
        Kind("sweep", "linkpool.figures.kinds.sweep:RECIPE", require=require),
        Kind("arms", "linkpool.figures.kinds.arms:RECIPE"),
        Kind("pareto", "linkpool.figures.kinds.pareto:RECIPE", require=require_search),
    )
}
"""By name, in the order in which help lists them."""

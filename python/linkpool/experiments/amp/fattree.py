"""The fat-tree of the AMP paper's section 5.3: 128 servers, 80 switches, ECMP per flow."""

from linkpool.experiments.amp import setting
from linkpool.experiments.scenarios import scenario
from linkpool.study.toml import Value

K = 8
HOSTS = K**3 // 4
LINK_BPS = 10e9
PACKET_B = 1400

SCHEMES = ("dctcp", "dcm", "xmp", "amp")
"""Of the long flows; the short ones are always DCTCP's."""
MULTIPATH = ("dcm", "xmp", "amp")

LONG = "long"
SHORT = "short"
"""Labels of the two kinds of flows."""

LAYERS = (
    ("host", "edge", "access up"),
    ("edge", "aggregation", "aggregation up"),
    ("aggregation", "core", "core up"),
    ("core", "aggregation", "core down"),
    ("aggregation", "edge", "aggregation down"),
    ("edge", "host", "access down"),
)
"""The layers of links: from, to, and how figures name them; upwards is away from the servers."""


def fat_tree(name: str, duration: str, scheme: str, subflows: int) -> dict[str, Value]:
    """Return fabric, queues and the transports called long and short, without a workload."""
    return scenario(
        "amp",
        "fat-tree",
        name=name,
        duration=duration,
        queue=setting.queue(),
        long=setting.transport(scheme, {}, subflows),
        short=setting.transport("dctcp", {}),
    )


def layer(node: str) -> str:
    """Return the layer of a node of a fat-tree by its name."""
    return {"h": "host", "e": "edge", "a": "aggregation", "c": "core"}[node[0]]

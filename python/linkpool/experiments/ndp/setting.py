"""The common settings of the NDP paper's experiments: fat-trees of 10 Gbps links, transports.

The paper simulates packets of 9,000 B, switches with eight packets of data per port, first windows
of 30 packets. Delays of links are ours: 1 us. DCTCP and MPTCP stand beside NDP as there, in FIFO
queues of 200 packets; DCTCP marks at 30.
"""

from linkpool.study.toml import Table, Value

RATE = "10Gbps"
RATE_BPS = 10e9
DELAY = "1us"
PAYLOAD, HEADER = 8936, 64

JUMBO: Table = {"mss": f"{PAYLOAD}B", "header": f"{HEADER}B", "ack_size": f"{HEADER}B"}

TRANSPORTS: dict[str, Table] = {
    "ndp": {"control": "ndp"},
    "mptcp": {"control": "lia", "subflows": 8, "paths": "hash", "min_rto": "10ms", **JUMBO},
    "dctcp": {"control": "dctcp", "min_rto": "10ms", **JUMBO},
}


def queue(scheme: str) -> Table:
    """Return the queues that a scheme's switches have."""
    if scheme == "ndp":
        return {"discipline": "trimming"}
    return {"limit": 200, **({"mark": 30} if scheme == "dctcp" else {})}


def fat_tree(k: int) -> Table:
    """Return a fat-tree of k-port switches."""
    return {"fat-tree": {"k": k, "rate": RATE, "delay": DELAY}}


def scenario(name: str, scheme: str, k: int, **keys: Value) -> dict[str, Value]:
    """Return a scenario of one scheme in a fat-tree, with these further keys."""
    return {
        "name": name,
        "topology": fat_tree(k),
        "queue": queue(scheme),
        "transport": {scheme: TRANSPORTS[scheme]},
        **keys,
    }

"""What can be estimated, and what cannot."""

from collections.abc import Mapping
from typing import Any

from linkpool.errors import InputError

RUN = ("name", "title", "seed", "duration", "drain", "measure", "record", "controls")
NETWORK = ("topology", "routing", "queue", "nic", "transport", "workload")
"""Keys of a scenario that a model can have: of the run, of the fabric and what uses it."""

BALANCERS = ("ecmp", "spray", "flowlets", "adaptive", "drill")
"""Rules of switches that know nothing of the fabric beyond their own ports."""


class OutsideError(InputError, ValueError):
    """A scenario that an estimate says nothing about.

    Attributes:
        key: what of it.

    """

    def __init__(self, key: str, what: str, right: str) -> None:
        """Name the key, what is wrong with it, and what can be estimated."""
        super().__init__(
            f"{key} {what}: an estimate is for {right}; linkpool run simulates the rest"
        )
        self.key = key


def require_inside(document: Mapping[str, Any]) -> None:
    """Refuse a scenario, with every default written out, that is outside the domain.

    Raises:
        OutsideError: it is.

    """
    for key in document:
        if key not in (*RUN, *NETWORK):
            raise OutsideError(key, "is in the scenario", "fabrics whose hosts are alike for ever")
    routing = document["routing"]
    if routing["kind"] not in BALANCERS:
        raise OutsideError("routing.kind", f"is {routing['kind']!r}", ", ".join(BALANCERS))
    for what in ("link", "placement"):
        if what in routing:
            raise OutsideError(f"routing.{what}", "is in the scenario", "links that are alike")
    queues = [("queue", document["queue"])]
    queues += [(f"queue.layer.{name}", t) for name, t in document["queue"].get("layer", {}).items()]
    for key, queue in queues:
        for what, right in (
            ("shared_buffer", "queues with a limit each, as its switches have fewer ports"),
            ("pfc", "queues that drop, mark or trim: pauses reach as far as a fabric does"),
        ):
            if what in queue:
                raise OutsideError(f"{key}.{what}", "is in the scenario", right)
    for kind, several in document["workload"].items():
        for i, keys in enumerate(several):
            _require_flows(f"workload.{kind}.{i}", kind, keys)


def _require_flows(key: str, kind: str, keys: Mapping[str, Any]) -> None:
    if kind not in ("poisson", "trace"):
        raise OutsideError(key, f"is of the kind {kind!r}", "poisson and trace")
    if kind == "poisson" and keys["to"] not in ("random", "other-racks"):
        raise OutsideError(f"{key}.to", f"is {keys['to']!r}", "random and other-racks")

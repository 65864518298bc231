"""What workloads offer to each tier of the fabric, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

UNEVEN = 1.05
"""The busiest link is named where its load is this much above that of its tier."""


@dataclass(frozen=True)
class TierLoad:
    """What is offered to the links from one layer to another.

    Attributes:
        layer: of the sending ports.
        to_layer: of the receiving nodes.
        load: payload that is to pass these links, over their capacity.
        busiest: the same of the link for which it is greatest: where the hosts of a role alone
            send, the link of one of them.

    """

    layer: str
    to_layer: str
    load: float
    busiest: float

    @property
    def name(self) -> str:
        """The tier as `load_of` names it."""
        return f"{self.layer}->{self.to_layer}"

    def __str__(self) -> str:
        """Name the tier, its load, and that of its busiest link if that is another."""
        load = f"{self.name} {self.load:.2f}"
        return f"{load} (busiest link {self.busiest:.2f})" if self.uneven else load

    @property
    def uneven(self) -> bool:
        """Whether its busiest link is to be named."""
        return self.busiest > UNEVEN * self.load


def remarks(tiers: Sequence[TierLoad]) -> list[str]:
    """Say what is offered to each tier, and which one cannot carry it; nothing without tiers."""
    if not tiers:
        return []
    lines = ["offered load (payload over capacity): " + ", ".join(map(str, tiers))]
    fullest = max(tiers, key=lambda tier: tier.busiest)
    if fullest.busiest > 1:
        whole = fullest.load > 1
        what = fullest.name if whole else f"a link of {fullest.name}"
        times = fullest.load if whole else fullest.busiest
        a_link = f" (a link of it {fullest.busiest:.2f} times)" if whole and fullest.uneven else ""
        # A load is that of all links of a tier: to name the tier makes no link emptier than others.
        or_name_it = f'; with load_of = "{fullest.name}" a load is that of these links'
        lines.append(
            f"warning: {what} is offered {times:.2f} times what it carries{a_link}, so that "
            "queues and flows pile up as long as flows arrive; lower the load"
            + (or_name_it if whole else "")
        )
    return lines

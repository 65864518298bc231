"""Whether a fabric whose ports pause their neighbours loses packets, in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkpool import _core
from linkpool.units import show_bytes, show_rate, show_seconds


@dataclass(frozen=True)
class Headroom:
    """Links of one kind that lead to switches of one layer.

    Attributes:
        layer: of the nodes that are paused.
        to_layer: of the switches that pause them.
        rate_bps: of each link, bit/s.
        delay_s: of each link.
        links: how many there are.
        needed_bytes: what may come by one from when a packet asks for the pause, that packet
            included.
        bytes: what the switch has for that, for each lossless priority.
        lapses: whether a pause may end before its frame is repeated.

    """

    layer: str
    to_layer: str
    rate_bps: int
    delay_s: float
    links: int
    needed_bytes: int
    bytes: int
    lapses: bool

    @property
    def is_short(self) -> bool:
        """Whether packets can come for which there is no room."""
        return self.bytes < self.needed_bytes


def headrooms(scenario: _core.Scenario) -> list[Headroom]:
    """Return the kinds of links to switches; none where ports do not pause."""
    return [Headroom(*row) for row in scenario.headrooms()]


def risks(kinds: Sequence[Headroom]) -> Iterator[str]:
    """Say by which links packets can be lost although ports pause."""
    for kind in filter(lambda kind: kind.is_short, kinds):
        yield (
            f"packets can be lost at {kind.to_layer} switches: the headroom of links from "
            f"{kind.layer}, {kind.bytes} B, is less than what comes by one of "
            f"{show_rate(float(kind.rate_bps), given=True)} and "
            f"{show_seconds(kind.delay_s, given=True)} until a pause holds, {kind.needed_bytes} B; "
            "leave queue.pfc.headroom and queue.pfc.packet out"
        )
    for kind in filter(lambda kind: kind.lapses, kinds):
        yield (
            f"packets can be lost at {kind.to_layer} switches: on links from {kind.layer} of "
            f"{show_rate(float(kind.rate_bps), given=True)} a pause may end before its frame is "
            "repeated; write more queue.pfc.quanta, or a smaller queue.pfc.refresh"
        )


def droppers(document: Mapping[str, Any]) -> Iterator[str]:
    """Say which transports count on a lossless fabric, and have one that drops."""
    queues = [document["queue"], *document["queue"].get("layer", {}).values()]
    if any("pfc" in queue for queue in queues):
        return
    for name, transport in document["transport"].items():
        if transport.get("retransmission") == "go-back-n":
            yield (
                f"the fabric is not lossless, as [queue] has no pfc: {name} "
                f'(control = "{transport["control"]}") sends again all that follows a lost packet'
            )


def buffers(scenario: _core.Scenario) -> Iterator[str]:
    """Say what switches have of their buffers to share."""
    for layer, size, set_aside in scenario.pause_buffers():
        yield (
            f"{layer}: a buffer of {show_bytes(size, given=True)}; headroom and reserves take "
            f"{show_bytes(set_aside, given=True)}, {show_bytes(size - set_aside, given=True)} "
            "are shared"
        )

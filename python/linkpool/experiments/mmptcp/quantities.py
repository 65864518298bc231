"""What the tables and figures of the MMPTCP paper show of runs with the same settings."""

from typing import Protocol

from linkpool.stats import Sample


class Measured(Protocol):
    """The results of runs, from their flows or from sums of each run."""

    @property
    def fct(self) -> Sample:
        """Describe the completion times of short flows that finished, in ms."""

    @property
    def goodput(self) -> Sample:
        """Describe the goodputs of long flows, in Mbit/s."""

    @property
    def utilisation(self) -> float | None:
        """Return the mean utilisation of the core, in per cent."""

    @property
    def loss(self) -> float | None:
        """Return the mean loss rate in the core, in per cent."""


def fct(cell: Measured) -> float | None:
    """Return the mean completion time of short flows, ms."""
    return cell.fct.mean


def deviation(cell: Measured) -> float | None:
    """Return the standard deviation of their completion times, ms."""
    return cell.fct.sd


def goodput(cell: Measured) -> float | None:
    """Return the mean goodput of long flows, Mbit/s."""
    return cell.goodput.mean


def goodput_deviation(cell: Measured) -> float | None:
    """Return the standard deviation of the goodputs of long flows, Mbit/s."""
    return cell.goodput.sd


def core(cell: Measured) -> float | None:
    """Return the mean utilisation of the core, per cent."""
    return cell.utilisation


def loss(cell: Measured) -> float | None:
    """Return the mean loss rate in the core, per cent."""
    return cell.loss

"""The problem: a fabric's directed links, and the flows that share them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Path = tuple[int, ...]


@dataclass(frozen=True)
class Network:
    """Nodes and directed links.

    Attributes:
        names: of the nodes.
        ends: for each link, the nodes that it leads from and to.
        capacity: of each link, bit/s.
        closed: nodes through which nothing passes that is not from or for them: hosts.

    """

    names: Sequence[str]
    ends: Sequence[tuple[int, int]]
    capacity: Floats
    closed: frozenset[int] = frozenset()

    @cached_property
    def _number(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _link(self) -> Mapping[tuple[int, int], int]:
        return {ends: i for i, ends in reversed(list(enumerate(self.ends)))}

    def node(self, name: str) -> int:
        """Return the number of a node."""
        return self._number[name]

    def path(self, names: Sequence[str]) -> Path:
        """Return the links of a path that is given by its nodes."""
        nodes = [self.node(name) for name in names]
        return tuple(self._link[a, b] for a, b in pairwise(nodes))


@dataclass(frozen=True)
class Flow:
    """A flow without end.

    Attributes:
        src: sending node.
        dst: receiving node.
        paths: the paths that it may split its traffic over; None: any.

    """

    src: int
    dst: int
    paths: tuple[Path, ...] | None = None

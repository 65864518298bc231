"""A run of an experiment or a study: its scenario, and what sets it apart."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from linkpool import _core
from linkpool.study.values import key_name

Keys: TypeAlias = "dict[str, str | int | float]"


@dataclass(frozen=True)
class Point:
    """One run of an experiment.

    Attributes:
        keys: what sets this run apart, by column name; its rows of the data carry these.
        source: the scenario, in TOML, or what writes it: scenarios with thousands of flows take
            seconds and megabytes, and who asks for the keys of runs needs none of them.
        seed: the seed of the run.
        active_s: simulated seconds in which the work is done, without the drain; None: in which
            flows start.
        cost: the work that it means, in data packets, roughly; for order and progress only. None:
            the packet-hops that the scenario lets expect.
        file: where the scenario comes from: files that it names are beside it, and errors name it.
        settings: keys of the scenario to replace, as `--set` takes them.

    """

    keys: Keys
    source: str | Callable[[], str]
    seed: int
    active_s: float | None = None
    cost: float | None = None
    file: str | None = None
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def scenario(self) -> str:
        """The scenario, in TOML."""
        return self.source if isinstance(self.source, str) else self.source()

    def load(self, run_code: bool = True) -> _core.Scenario:
        """Read and check its scenario; raises `ScenarioError`."""
        file = self.file or self.name
        return _core.load(self.scenario, file, self.seed, list(self.settings), run_code)

    @property
    def name(self) -> str:
        """Name the run as people read it."""
        return ", ".join(f"{key_name(key)} {value}" for key, value in self.keys.items())

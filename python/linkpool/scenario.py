"""A scenario in Python: from a file, a text, a dictionary, or built of typed objects."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkpool import _core
from linkpool.api import Progress, simulate_loaded
from linkpool.limits import require_seed, require_threads
from linkpool.loading import Value, inline, read_text
from linkpool.result import Result
from linkpool.settings import document

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from linkpool.study.model import Study


@dataclass(frozen=True)
class Scenario:
    """A fabric, a workload and a transport, ready to be checked, run and studied.

    Attributes:
        text: the scenario, in TOML.
        file: the file that it is from: files that it names are beside it; None: beside the
            working directory.
        settings: keys that replace those of the text, dotted, and their values.

    >>> from linkpool.settings import Flow, ManyToOne, Queue, Transport
    >>> scenario = Scenario.of(
    ...     duration="1ms",
    ...     drain="10ms",
    ...     topology=ManyToOne(senders=2, rate="10Gbps", delay="2us"),
    ...     queue=Queue(limit=100, mark=10),
    ...     transport={"t": Transport(control="dctcp")},
    ...     workload=[Flow(transport="t", from_="S1", to="R", size="14KB")],
    ... )
    >>> result = scenario.set({"queue.mark": 20}).run()
    >>> result.flows["acked_bytes"].to_list()
    [14000]

    """

    text: str
    file: Path | None = None
    settings: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def load(cls, file: str | Path) -> "Scenario":
        """Read a scenario file; it is checked when it is used.

        Raises:
            OSError: the file cannot be read.

        """
        path = Path(file)
        return cls(read_text(path), path)

    @classmethod
    def of(cls, content: Mapping[str, Any] | None = None, /, **tables: Any) -> "Scenario":
        """Make a scenario of a dictionary, or of the tables of a scenario by name.

        Values are as in a file, or objects of `linkpool.settings`.

        >>> text = Scenario.of({"duration": "1s", "queue": {"limit": 100}}).text
        >>> print(text.strip())
        duration = "1s"
        <BLANKLINE>
        [queue]
        limit = 100

        """
        from linkpool.study.toml import dumps

        return cls(dumps(document({**(content or {}), **tables})))

    def set(self, settings: Mapping[str, Value]) -> "Scenario":
        """Return the scenario with other values of some keys, such as `{"queue.mark": 20}`."""
        return replace(self, settings={**self.settings, **settings})

    def check(self, *, seed: int | None = None, run_code: bool = False) -> str:
        """Return the scenario as it would run, in TOML with every default written out.

        Args:
            seed: replaces the scenario's seed.
            run_code: run the code in Python that it brings (`controls`), as of `linkpool.check`.

        Raises:
            ScenarioError: the scenario cannot run; `errors` has the place of each mistake, and
                what would be right.

        >>> try:
        ...     Scenario.of(duration="1s", queue={"limits": 100}).check()
        ... except _core.ScenarioError as error:
        ...     print(error.errors[0][2])
        queue.limits

        """
        return self.loaded(seed, run_code).toml

    def run(
        self,
        *,
        out: str | Path | None = None,
        seed: int | None = None,
        progress: Progress | None = None,
        threads: int | None = None,
        ignore_estimate: bool = False,
    ) -> Result:
        """Simulate the scenario; arguments and errors are those of `linkpool.run`."""
        require_threads(threads)
        return simulate_loaded(
            self.loaded(seed, run_code=True), out, progress, threads, ignore_estimate
        )

    def study(self, **fields: Any) -> "Study":
        """Return a study with this scenario as its base; `fields` are those of `Study`.

        >>> study = Scenario("duration = '1s'").study(vary={"queue.mark": [10, 20]}, seeds=3)
        >>> [variation["queue.mark"] for variation in study.variations()]
        [10, 20]

        """
        from linkpool.study.model import Arm, Study

        base = tomllib.loads(self.text) if self.file is None else str(self.file.resolve())
        arms = [Arm.model_validate(arm) for arm in fields.pop("arms", [Arm(name="base")])]
        own = dict(self.settings)
        arms = [
            arm.model_copy(update={"set": {**own, **arm.settings()}}) if arm.base is None else arm
            for arm in arms
        ]
        return Study(base=base, arms=arms, **fields)

    def loaded(self, seed: int | None, run_code: bool) -> _core.Scenario:
        """Read and check it; the arguments and errors are those of `check`."""
        require_seed(seed)
        name = "scenario.toml" if self.file is None else str(self.file)
        settings = [(key, inline(value)) for key, value in self.settings.items()]
        return _core.load(self.text, name, seed, settings, run_code)

"""The known experiments: ours, experiments of installed packages, experiments of a folder."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkpool.study.experiment import Experiment

GROUP = "linkpool.experiments"
"""The group of entry points by which a package brings experiments: `ID = "module:OBJECT"`."""

NAME = "EXPERIMENT"
"""The name of the experiment in a file of a folder."""


class RegistryError(ValueError):
    """An experiment that is registered cannot be had; the message says which, and why."""


class Registry:
    """Experiments by id, each loaded when it is asked for."""

    def __init__(self) -> None:
        self._sources: dict[str, tuple[str, Callable[[], object]]] = {}
        self._loaded: dict[str, Experiment] = {}

    def add(
        self,
        targets: Mapping[str, str],
        make: Callable[[Any, str], object] = lambda found, _: found,
    ) -> None:
        """Register experiments by id.

        Args:
            targets: by id where they are, as `module:OBJECT`.
            make: makes the experiment of an id from what is there.

        Raises:
            RegistryError: another experiment has such an id.

        """
        for name, target in targets.items():
            point = EntryPoint(name, target, GROUP)
            self._add(name, target, lambda point=point: make(point.load(), point.name))  # type: ignore[misc]

    def add_installed(self) -> None:
        """Register the entry points of the group `GROUP` of installed packages.

        Raises:
            RegistryError: another experiment has such an id.

        """
        for point in entry_points(group=GROUP):
            self._add(point.name, point.value, point.load)

    def add_folder(self, folder: Path) -> None:
        """Register the `EXPERIMENT` of every Python file of a folder that has one.

        The files are those of one package: they may import each other by `from . import shared`.

        Raises:
            RegistryError: the folder or a file cannot be read, or an id is there already.

        """
        if not folder.is_dir():
            raise RegistryError(f"{folder} is not a folder")
        from linkpool.study.experiment import Experiment  # here: it loads polars

        found = 0
        package = _package(folder)
        for file in sorted(folder.glob("*.py")):
            module = _import_file(package, file)
            experiment = getattr(module, NAME, None)
            if experiment is None:
                continue
            if not isinstance(experiment, Experiment):
                raise RegistryError(f"{file}: {NAME} is not a linkpool.study.Experiment")
            found += 1
            self._add(experiment.id, str(file), partial(getattr, module, NAME))
        if not found:
            raise RegistryError(f"no Python file in {folder} has an {NAME}")

    def __iter__(self) -> Iterator[str]:
        """Give the ids, in the order in which they were registered; nothing is loaded."""
        return iter(self._sources)

    def find(self, name: str) -> str | None:
        """Return the id that a person means, in upper or lower case; None: there is none."""
        return {known.lower(): known for known in self}.get(name.lower())

    def load(self, name: str) -> Experiment:
        """Return the experiment of an id, importing its module if that was not done yet.

        Raises:
            KeyError: there is no such id.
            RegistryError: what is registered there is no experiment of this id.

        """
        from linkpool.study.experiment import Experiment  # here: it loads polars

        if name not in self._loaded:
            target, load = self._sources[name]
            try:
                experiment = load()
            except (ImportError, AttributeError) as error:
                raise RegistryError(f"experiment {name}: cannot load {target}: {error}") from error
            if not isinstance(experiment, Experiment):
                raise RegistryError(f"experiment {name}: {target} is not an Experiment")
            if experiment.id != name:
                raise RegistryError(
                    f"{target} is registered as {name}, but its id is {experiment.id}"
                )
            self._loaded[name] = experiment
        return self._loaded[name]

    def load_all(self) -> list[Experiment]:
        """Return every experiment, in the order in which they were registered."""
        return [self.load(name) for name in self]

    def _add(self, name: str, target: str, load: Callable[[], object]) -> None:
        other = self.find(name)
        if other is not None:
            raise RegistryError(
                f"two experiments have the id {name}: {self._sources[other][0]} and {target}"
            )
        self._sources[name] = (target, load)


def _package(folder: Path) -> str:
    """Make an empty package whose modules are the files of a folder; return its name."""
    name = f"linkpool_folder_{abs(hash(folder.resolve())):x}"
    package = ModuleType(name)
    package.__path__ = [str(folder.resolve())]
    sys.modules[name] = package
    return name


def _import_file(package: str, file: Path) -> ModuleType:
    try:
        return importlib.import_module(f"{package}.{file.stem}")
    except Exception as error:
        raise RegistryError(f"cannot load {file}: {type(error).__name__}: {error}") from error

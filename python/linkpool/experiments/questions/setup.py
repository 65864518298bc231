"""What the file of a question declares: settings, schemes, the figure, scenarios."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from linkpool.study.toml import Table

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Panel(NamedTuple):
    """A panel of the figure: a quantity, in what unit it is drawn, and how."""

    quantity: str
    label: str
    factor: float = 1.0
    log: bool = False
    only: str = ""
    """The settings that it shows begin with this."""


@dataclass(frozen=True)
class Setup:
    """The declared part of a question.

    Attributes:
        settings: the settings, and how the figure names them.
        schemes: the schemes, and the transport of each, if that is declared.
        panels: of the figure.
        figure_rows: rows of panels.
        scenarios: the scenario in whose texts words stand in braces; several have names.
        words: what stands for words in all runs, then in those of a setting or of a scheme, by its
            name. `kind` names a scenario; `active_s` is the seconds in which the work of a run is
            done, and `packets` its data packets, roughly.
        more: tables that the class of the question reads.

    """

    settings: Mapping[str, str]
    schemes: Mapping[str, Table]
    panels: tuple[Panel, ...]
    figure_rows: int
    scenarios: Mapping[str, Table]
    words: Mapping[str, Mapping[str, Any]]
    more: Mapping[str, Any]

    @classmethod
    @cache
    def read(cls, name: str) -> "Setup":
        """Read the file of a question, which has the tables of another if it is `like` this."""
        of: dict[str, Any] = dict(_read(name))
        if "like" in of:
            other = _read(of.pop("like"))
            both = {**other.get("scenarios", {}), **of.get("scenarios", {})}
            of = {**other, **of, "scenarios": both}
        settings: dict[str, Any] = of.pop("settings")
        tables = {key: dict(each) for key, each in settings.items() if isinstance(each, dict)}
        words = {"": of.pop("words", {}), **of.pop("of", {})}
        labels = {key: each for key, each in settings.items() if key not in tables}
        labels |= {key: each.pop("label") for key, each in tables.items()}
        return cls(
            settings={key: labels[key] for key in settings},
            schemes={key: transport(each) for key, each in of.pop("schemes").items()},
            panels=tuple(Panel(**each) for each in of.pop("panels")),
            figure_rows=of.pop("figure_rows", 1),
            scenarios={"": of.pop("scenario", {}), **of.pop("scenarios", {})},
            words={**words, **tables},
            more=of,
        )

    def said(self, setting: str, scheme: str) -> dict[str, Any]:
        """Return what stands for words in the runs of a setting and scheme; None: nothing."""
        names: dict[str, Any] = dict.fromkeys(key for of in self.words.values() for key in of)
        own = {"scheme": scheme, "transport": self.schemes[scheme]}
        for name in ("", setting, scheme):
            own |= self.words.get(name, {})
        return {**names, **own}


def transport(own: Mapping[str, Any]) -> Table:
    """Return a transport: that which it is like, with its own settings."""
    settings = dict(own)
    like = settings.pop("like", None)
    return {**(transport(_read("transports")[like]) if like else {}), **settings}


@cache
def _read(name: str) -> dict[str, Any]:
    file = Path(__file__).with_name(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))

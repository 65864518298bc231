"""What a study is: a base scenario, what varies, seeds, measures; read from TOML or made in Python.

`docs/study.md` explains the file. Every error names the file, the key and what would be right.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from linkpool.errors import InputError
from linkpool.limits import MOST_RUNS, MOST_SEED, MOST_SEEDS
from linkpool.study import measures
from linkpool.study.space import Search
from linkpool.study.threshold import Threshold
from linkpool.study.toml import dumps
from linkpool.study.values import Shown, key_name, names_of, shown
from linkpool.units import counted
from linkpool.verbs import verb

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from linkpool.study.result import StudyResult

Settings: TypeAlias = "dict[str, Any]"
"""Scenario keys and what stands there; tables may be nested, or keys dotted."""

ARM = "arm"
SEED = "seed"
CALLED = "name"
"""The key of a scenario's name, which may vary to name the values that go with it."""

BASE_ARM = "base"
"""The name of the only arm of a study that names none."""

OF_SCENARIOS = frozenset({"duration", "topology", "transport", "workload"})
"""Keys of scenarios that studies do not have."""

TAKEN = ("runs", "quick", "from-data")
"""Folders of results that are not those of a study: of all runs, and of `linkpool reproduce`."""

MOST_NAME_BYTES = 200
"""File systems have names of up to 255 bytes; that of a partial directory is longer by some."""

MOST_LETTERS = 60
"""Of a name of an arm or a study."""

_NAME = r"^[^\x00-\x1f/]+$"
Name = Annotated[str, StringConstraints(min_length=1, max_length=MOST_LETTERS, pattern=_NAME)]


class StudyError(InputError, ValueError):
    """A study cannot run; the message names the file and key of each thing wrong."""


class Arm(BaseModel):
    """One of the alternatives that a study compares: a name, and its settings.

    >>> Arm(name="amp-4", set={"transport.t.control": "amp", "transport.t.subflows": 4}).settings()
    {'transport.t.control': 'amp', 'transport.t.subflows': 4}
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name = Field(description="Its name in tables and figures.")
    base: str | None = Field(
        None, description="A scenario of its own, in place of the study's, relative to the file."
    )
    set: Settings = Field(default={}, description="Keys of the scenario that it sets.")

    def settings(self) -> dict[str, Any]:
        """Return its settings by dotted keys, as `--set` takes them."""
        return flatten(self.set)


class Study(BaseModel):
    """A question that takes many runs: arms, by varied settings, by seeds.

    >>> study = Study(
    ...     base="incast.toml",
    ...     arms=[
    ...         Arm(name="dctcp", set={"transport.t.control": "dctcp"}),
    ...         Arm(name="amp", set={"transport.t.control": "amp", "transport.t.subflows": 4}),
    ...     ],
    ...     vary={"queue.mark": [10, 20]},
    ...     seeds=5,
    ... )
    >>> study.seed_list, study.reference
    ([1, 2, 3, 4, 5], {'arm': 'dctcp'})
    >>> list(study.variations())
    [{'queue.mark': 10}, {'queue.mark': 20}]
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: Name = Field("study", description="Names its directory of results; default: the file's.")
    title: str = Field("", description="What it asks; for the tables and figures.")
    base: str | dict[str, Any] = Field(
        description="The base scenario: a file, relative to this one, or the scenario itself."
    )
    arms: list[Arm] = Field(
        default_factory=lambda: [Arm(name=BASE_ARM)],
        alias="arm",
        min_length=1,
        description="The alternatives to compare.",
    )
    vary: Settings = Field(
        default={}, description="Scenario keys, and a list of values for each: all combinations."
    )
    zip: list[Settings] = Field(
        default=[],
        description="Tables of scenario keys whose lists of values go together, one by one.",
    )
    seeds: int | list[int] = Field(1, description="Seeds 1 to this, or a list of seeds.")
    measures: list[str] = Field(
        default=list(measures.DEFAULT), min_length=1, description="What to measure, by name."
    )
    baseline: dict[str, Any] = Field(
        default={},
        description="What ratios are to: the name of an arm (default: the first), or a table of "
        "values of varied keys.",
    )
    claims: list[Threshold] = Field(
        default=[], alias="claim", description="What is to hold; a run ends with exit code 1 else."
    )
    figures: list[str] = Field(default=[], description="Kinds of figures to draw, by name.")
    search: Search | None = Field(
        None, description="A space of settings that is searched, instead of arms and vary."
    )
    report: bool = Field(False, description="Whether to write a page for the browser.")

    _file: Path | None = PrivateAttr(None)

    @property
    def file(self) -> Path | None:
        """The file that it was read from; None: it was made in Python."""
        return self._file

    @property
    def folder(self) -> Path:
        """The folder that paths of scenarios are relative to."""
        return self._file.parent if self._file is not None else Path()

    @property
    def seed_list(self) -> list[int]:
        """The seeds of its runs."""
        return self.seeds if isinstance(self.seeds, list) else list(range(1, self.seeds + 1))

    @property
    def reference(self) -> dict[str, Any]:
        """What ratios are to: the baseline, or the first of several arms; empty: nothing.

        Where the baseline has a value of a zip, the values that go with it belong to it too.
        """
        if not self.baseline:
            return {ARM: self.arms[0].name} if len(self.arms) > 1 else {}
        whole = dict(self.baseline)
        for row in self._zipped_rows():
            if any(key in whole and whole[key] == value for key, value in row.items()):
                whole |= row
        varied = self._varied
        return {
            key: value if key == ARM else shown(varied[key])[varied[key].index(value)]
            for key, value in whole.items()
        }

    @property
    def _varied(self) -> dict[str, list[Any]]:
        """The values of each varied key."""
        varied = flatten(self.vary)
        for table in self.zip:
            varied |= flatten(table)
        return varied

    def _zipped_rows(self) -> list[dict[str, Any]]:
        return [row for table in self.zip for row in _rows(flatten(table))]

    @property
    def told(self) -> set[str]:
        """The varied keys whose values go with names of the scenario, which say enough."""
        named = [of for of in map(flatten, self.zip) if CALLED in of]
        return {key for of in named for key in of if key != CALLED}

    @property
    def names(self) -> dict[str, dict[str, Shown]]:
        """What the tables call each value of each varied key, by the value as TOML."""
        return names_of(self._varied)

    @property
    def keys(self) -> list[str]:
        """The columns that tell its runs apart, but for the seed: `arm`, and each varied key."""
        return [ARM, *flatten(self.vary), *(key for table in self.zip for key in flatten(table))]

    def variations(self) -> Iterator[dict[str, Any]]:
        """Give the settings of each combination of varied values."""
        for combination in product(*self._axes()):
            yield {key: value for part in combination for key, value in part.items()}

    def _axes(self) -> list[list[dict[str, Any]]]:
        """Return what varies by itself: of each axis the settings of its values."""
        axes = [[{key: value} for value in values] for key, values in flatten(self.vary).items()]
        return axes + [_rows(flatten(table)) for table in self.zip]

    @classmethod
    def load(cls, file: str | Path) -> Study:
        """Read a study file.

        Raises:
            StudyError: it is no study; the message names each wrong key and what would be right.
            OSError: it cannot be read.

        """
        path = Path(file)
        try:
            return cls.parse(path.read_text(encoding="utf-8"), path)
        except UnicodeDecodeError:
            raise StudyError(f"{path}: it is not a text file (UTF-8)") from None

    @classmethod
    def parse(cls, text: str, file: Path | None = None) -> Study:
        """Read the text of a study file; `file` is where it stands.

        Raises:
            StudyError: it is no study.

        """
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise StudyError(f"{_where(file)}: {error}") from None
        except RecursionError:
            raise StudyError(f"{_where(file)}: brackets within brackets, too deep") from None
        return cls.from_dict(document, file)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], file: Path | None = None) -> Study:
        """Make a study of the content of a study file; `file` is where it stands.

        Raises:
            StudyError: it is no study.

        """
        if "base" not in document and OF_SCENARIOS & document.keys():
            name = "FILE.toml" if file is None else file.name
            raise StudyError(
                f"{_where(file)} is a scenario, not a study; one run of it: linkpool run "
                f'{file or name} --out DIR; for many, write a study with base = "{name}" and, as '
                "you need them, seeds, arm, vary and measures (docs/study.md)"
            )
        if file is not None:
            document = {"name": file.stem, **document}
        try:
            study = cls.model_validate(document)
        except ValidationError as error:
            raise StudyError(_explain(error, file)) from None
        study._file = file
        return study

    def run(
        self, out: str | Path = "results", *, jobs: int | None = None, on: str | None = None
    ) -> StudyResult:
        """Make the runs that are missing, and return what came of the study.

        Args:
            out: the directory of all results; its runs are in `out/runs`, its data in `out/NAME`.
            jobs: runs at a time; None: as many as there are cores.
            on: the address of a Dask scheduler that the runs are sent to, `tcp://HOST:PORT`.

        Raises:
            StudyError: a scenario cannot run.
            RunError: a run failed; those that were made are kept.
            RemoteError: the scheduler does not answer, or has no workers.

        """
        result: StudyResult = verb("Study.run")(self, Path(out), jobs, on)
        return result

    def as_toml(self) -> str:
        """Return the study as the text of a study file."""
        content = self.model_dump(by_alias=True, exclude_defaults=True, exclude_none=True)
        return dumps({"name": self.name, **content})

    @field_validator("name")
    @classmethod
    def _a_directory(cls, name: str) -> str:
        if name.startswith("."):
            raise ValueError(f"{name!r} begins with a dot; it names the directory of the study")
        if name.lower() in TAKEN:
            raise ValueError(f"{name!r} is a folder of other results; choose another name")
        if (size := len(name.encode())) > MOST_NAME_BYTES:
            raise ValueError(
                f"takes {size} bytes in UTF-8; at most {MOST_NAME_BYTES}, as it names a directory"
            )
        return name

    @field_validator("measures")
    @classmethod
    def _known(cls, names: list[str]) -> list[str]:
        for name in names:
            measures.wanted(name)
        if len(set(names)) < len(names):
            raise ValueError("names a measure twice")
        return names

    @field_validator("figures")
    @classmethod
    def _each_once(cls, kinds: list[str]) -> list[str]:
        return list(dict.fromkeys(kinds))

    @field_validator("seeds", mode="after")
    @classmethod
    def _distinct(cls, seeds: int | list[int]) -> int | list[int]:
        if isinstance(seeds, int):
            if seeds < 1:
                raise ValueError("at least one seed; write a number of seeds or a list, as in 5")
            if seeds > MOST_SEEDS:
                raise ValueError(f"{seeds} seeds; at most {MOST_SEEDS}, or a list of seeds")
        elif not seeds or len(set(seeds)) < len(seeds):
            raise ValueError("a list of one or more seeds that differ, as in [1, 2, 3]")
        elif not all(0 <= seed <= MOST_SEED for seed in seeds):
            raise ValueError("a seed is 0 to 2^63 - 1")
        return seeds

    @field_validator("vary")
    @classmethod
    def _lists(cls, table: Settings) -> Settings:
        for key, values in flatten(table).items():
            if key == SEED:
                raise ValueError("seed does not vary here; write seeds = 5")
            if not isinstance(values, list) or not values:
                raise ValueError(f"{key}: write a list of values, as in {key} = [10, 20]")
            if any(value in values[:i] for i, value in enumerate(values)):
                raise ValueError(f"{key}: a value stands there twice")
        return table

    @field_validator("zip")
    @classmethod
    def _of_one_length(cls, tables: list[Settings]) -> list[Settings]:
        for table in tables:
            cls._lists(table)
            lengths = {key: len(values) for key, values in flatten(table).items()}
            if len(set(lengths.values())) > 1:
                counts = ", ".join(f"{key} has {n}" for key, n in lengths.items())
                raise ValueError(f"lists that go together have one length; {counts}")
        return tables

    @field_validator("baseline", mode="before")
    @classmethod
    def _arm_or_values(cls, value: object) -> object:
        if isinstance(value, str):
            return {ARM: value}
        return flatten(value) if isinstance(value, Mapping) else value

    @model_validator(mode="after")
    def _consistent(self) -> Study:
        names = [arm.name for arm in self.arms]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"arm: two arms have the name {name!r}")
        for key in self.keys:
            if self.keys.count(key) > 1:
                raise ValueError(f"{key} varies twice, in vary and zip")
            for arm in self.arms:
                if key in arm.settings():
                    raise ValueError(f"{key} varies, and arm {arm.name!r} sets it")
        self._check_claims(names)
        beside = {"arm": names != [BASE_ARM], "vary": self.vary, "zip": self.zip}
        beside |= {"claim": self.claims, "baseline": self.baseline}
        if self.search is not None and any(beside.values()):
            wrong = next(name for name, there in beside.items() if there)
            raise ValueError(f"{wrong} does not go with search, whose trials are the arms")
        variations = math.prod(len(axis) for axis in self._axes())
        runs = len(names) * variations * len(self.seed_list)
        if runs > MOST_RUNS:
            raise ValueError(f"{runs} runs; a study has at most {MOST_RUNS}")
        values: dict[str, list[Any]] = {ARM: names, **self._varied}
        for key, value in self.baseline.items():
            if key not in values:
                raise ValueError(f"baseline: {key} does not vary; {', '.join(values)} do")
            if value not in values[key]:
                known = ", ".join(map(str, values[key]))
                raise ValueError(
                    f"baseline: {value!r} is no {key} of this study; there are {known}"
                )
        self._check_together("baseline", self.baseline)
        return self

    @property
    def extent(self) -> str:
        """How many arms, settings and seeds it has: `3 arms × 2 settings × 5 seeds`."""
        counts = [counted(len(self.arms), "arm")]
        settings = sum(1 for _ in self.variations())
        if settings > 1:
            counts.append(counted(settings, "setting"))
        return " × ".join([*counts, counted(len(self.seed_list), "seed")])

    @property
    def named(self) -> list[tuple[str, str]]:
        """Each measure that it names, after the key that names it."""
        of_claims = [(f"claim.{i}.measure", one.measure) for i, one in enumerate(self.claims)]
        return [*(("measures", name) for name in self.measures), *of_claims]

    def _check_claims(self, arms: list[str]) -> None:
        values: dict[str, list[Any]] = self._varied
        for i, claim in enumerate(self.claims):
            for arm in (claim.arm, claim.other):
                if arm is not None and arm not in arms:
                    raise ValueError(f"claim.{i}: no arm {arm!r}; there are {', '.join(arms)}")
            if arms == [claim.other]:
                raise ValueError(f"claim.{i}: there is no arm beside {claim.other!r} to compare")
            at = flatten(claim.at)
            for key, value in at.items():
                if key not in values:
                    known = ", ".join(values) or "nothing"
                    raise ValueError(f"claim.{i}: at: {key} does not vary; {known} does")
                if value not in values[key] or str(value) not in map(str, values[key]):
                    known = ", ".join(map(str, values[key]))
                    raise ValueError(f"claim.{i}: at: {value!r} is no {key}; there are {known}")
            self._check_together(f"claim.{i}: at", at)

    def _check_together(self, what: str, values: Mapping[str, Any]) -> None:
        for table in self.zip:
            named = {key: v for key, v in values.items() if key in flatten(table)}
            if not any(named.items() <= row.items() for row in _rows(flatten(table))):
                together = " and ".join(f"{key} {value}" for key, value in named.items())
                raise ValueError(f"{what}: {together} do not go together in zip")


def is_name(text: str) -> bool:
    """Tell whether a text may be the name of an arm."""
    return len(text) <= MOST_LETTERS and re.fullmatch(_NAME, text) is not None


def name_of(keys: Mapping[str, Any]) -> str:
    """Name what runs of all seeds have in common: the arm and the varied values.

    >>> name_of({"arm": "amp", "queue.mark": 20, "seed": 1})
    'amp, queue.mark 20'
    >>> name_of({"arm": "base", "queue.mark": 20}), name_of({"queue.mark": 20})
    ('queue.mark 20', 'queue.mark 20')
    >>> name_of({"arm": "amp", "workload.poisson.0.load": 0.5}), name_of({"name": "a cable fails"})
    ('amp, poisson load 0.5', 'a cable fails')

    """
    varied = [
        str(value) if key == CALLED else f"{key_name(key)} {value}"
        for key, value in keys.items()
        if key not in (ARM, SEED)
    ]
    arm = str(keys.get(ARM, BASE_ARM))
    return ", ".join(varied if arm == BASE_ARM and varied else [arm, *varied])


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return what tables within tables hold, by dotted keys.

    >>> flatten({"queue": {"mark": 10}, "transport.t.control": "amp"})
    {'queue.mark': 10, 'transport.t.control': 'amp'}

    """
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _rows(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def _where(file: Path | None) -> str:
    return str(file) if file is not None else "the study"


def _explain(error: ValidationError, file: Path | None) -> str:
    """Say what is wrong with each key of a study file."""
    lines = []
    for problem in error.errors():
        place = [str(part) for part in problem["loc"] if part not in ("int", "str")]
        place = [part for part in place if not part.startswith(("list[", "dict["))]
        key = ".".join(place)
        lines.append(
            f"{_where(file)}: {key}{': ' if key else ''}{_what(problem['type'], problem, place)}"
        )
    return "\n".join(dict.fromkeys(lines))


def _what(kind: str, problem: Mapping[str, Any], place: list[str]) -> str:
    if kind == "extra_forbidden":
        parts: dict[str, type[BaseModel]] = {ARM: Arm, "claim": Threshold}
        model = parts.get(place[0], Study) if len(place) > 1 else Study
        known = (field.alias or name for name, field in model.model_fields.items())
        return f"unknown key; there are {', '.join(known)}"
    if kind == "missing":
        return "is missing"
    if kind == "string_pattern_mismatch":
        return "has a / or a control character; leave it out, as it names files and tables"
    if kind == "value_error":
        return str(problem["ctx"]["error"])
    text = str(problem["msg"])
    return text[0].lower() + text[1:]

"""Search settings: trials one after another, each of which is runs in the cache.

The sampler is seeded and hears of each trial before it proposes the next one. So a search that was
stopped proposes the same trials again, finds their runs in the cache, and goes on.

With `race` a trial makes its seeds in several steps, and is stopped between two of them if it
cannot be on the front, or is not with confidence. All that is decided follows from values alone.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from linkpool.cores import cpus
from linkpool.publish import publish_file
from linkpool.study import measures
from linkpool.study.cache import Make, Notice
from linkpool.study.found import FRONT, FRONT_KIND, SEARCH
from linkpool.study.measuring import measure
from linkpool.study.model import ARM, SEED, Arm, Study, StudyError, is_name
from linkpool.study.perform import run_study
from linkpool.study.plan import Plan, require_kinds
from linkpool.study.pool import Watch, run_entries
from linkpool.study.race import is_worse, looks
from linkpool.study.result import StudyResult
from linkpool.study.space import Range, Search
from linkpool.study.statistics import over_seeds, too_few
from linkpool.study.toml import dumps
from linkpool.study.values import key_name
from linkpool.units import counted, show_count

TRIALS = "{}-trials.csv"
"""The table of the trials of a search by its name, if none is on the front."""


@dataclass(frozen=True)
class Trial:
    """Settings that were tried.

    Attributes:
        number: from 0.
        settings: by scenario key.
        values: the mean over the seeds of each measure of the search; None: there is none.
        open: measures whose value is only a lower bound, as flows were unfinished.
        excess: how far each requirement is from being met; at most 0: it is.
        lacks: by measure, why runs have no value of it; those of which all have one are left out.
        by_seed: the value of each objective with each seed that has one.
        seeds: how many seeds were made.
        stopped: why it was stopped before its last seed; "": it was not.
        why: why it could not run; "": it ran.

    """

    number: int
    settings: dict[str, Any]
    values: dict[str, float | None]
    open: frozenset[str]
    excess: list[float]
    lacks: dict[str, str] = field(default_factory=dict)
    by_seed: dict[str, dict[int, float]] = field(default_factory=dict)
    seeds: int = 0
    stopped: str = ""
    why: str = ""

    @property
    def name(self) -> str:
        """Its number in words."""
        return f"trial {self.number}"

    @property
    def arm(self) -> str:
        """Its name as an arm: with its settings, if that is short enough and may be a name."""
        last = [key.rpartition(".")[2] for key in self.settings]
        short = last if len(set(last)) == len(last) else map(key_name, self.settings)
        values = zip(short, self.settings.values(), strict=True)
        name = f"{self.name}: {', '.join(f'{key} {value}' for key, value in values)}"
        return name if is_name(name) else self.name

    def is_known(self, search: Search) -> bool:
        """Tell whether all objectives have a value of all seeds, and none is open."""
        return not self.why and not self.stopped and not self.leaves(search)

    def leaves(self, search: Search) -> list[str]:
        """Say which objectives it leaves unknown, and why."""
        lacking = [self.lacks[name] for name, _ in search.objectives if name in self.lacks]
        return [*lacking, *(_is_open(name) for name in self.leaves_open(search))]

    def leaves_open(self, search: Search) -> list[str]:
        """Return the objectives to be small that have a lower bound only."""
        return [name for name, small in search.objectives if small and name in self.open]

    @property
    def reason(self) -> str:
        """Why it could not run, in one line."""
        return self.why.replace(":\n", ": ").replace("\n", "; ")

    def is_feasible(self) -> bool:
        """Tell whether it meets all that is required."""
        return not self.why and all(excess <= 0.0 for excess in self.excess)


def search(
    study: Study,
    out: Path,
    jobs: int | None = None,
    *,
    make: Make | None = None,
    notice: Notice | None = None,
    watch: Watch | None = None,
    told: Callable[[Trial], None] = lambda _: None,
) -> tuple[list[Trial], list[Trial], StudyResult]:
    """Make the trials of a study that searches.

    Args:
        study: the study.
        out: the directory of all results.
        jobs: runs at a time.
        make: makes the runs; None: this process does.
        notice: is told which runs are damaged.
        watch: is told how far the runs of a trial are.
        told: is told of each trial.

    Returns:
        All trials; those on the Pareto front; and the study of these, whose arms they are.

    Raises:
        StudyError: optuna is missing, there is no such kind of figure, or no trial is on the front.

    """
    assert study.search is not None, "the caller looks"
    require_kinds(study)
    trials: list[Trial] = []
    for number, (settings, tell) in enumerate(_proposed(study.search)):
        rivals = front(study.search, trials) if study.search.race else None
        trial = _try(study, study.search, number, settings, rivals, out, jobs, make, notice, watch)
        tell(trial)
        told(trial)
        trials.append(trial)
    best = front(study.search, trials)
    table = out / TRIALS.format(study.name)
    if not best:
        out.mkdir(parents=True, exist_ok=True)
        with publish_file(table) as file:
            table_of(study.search, trials, best).write_csv(file)
        raise StudyError(f"{_nothing(study.search, trials)}; all trials: {table}")
    table.unlink(missing_ok=True)  # its trials are in the directory of the study from now on
    arms = [Arm(name=one.arm, set=one.settings) for one in best]
    figures = [kind for kind in study.figures if kind != FRONT_KIND]  # it is drawn in any case
    found = _with(study, arms, figures=figures, report=study.report)
    plan = Plan.of(found, out, notice, make)
    also = partial(_write, study.search, table_of(study.search, trials, best))
    return trials, best, run_study(plan, jobs, watch, also=also)


def front(search: Search, trials: list[Trial]) -> list[Trial]:
    """Return the trials that no other is better than: feasible, each settings once."""
    able = [one for one in trials if one.is_known(search) and one.is_feasible()]
    found: list[Trial] = []
    for one in able:
        mine = _costs(search, one)
        beaten = any(_beats(_costs(search, other), mine) for other in able)
        if not beaten and all(one.settings != other.settings for other in found):
            found.append(one)
    return sorted(found, key=partial(_costs, search))


def _costs(search: Search, trial: Trial) -> tuple[float, ...]:
    """Return the objectives of a trial that is known, all to be small."""
    values = ((trial.values[name], small) for name, small in search.objectives)
    return tuple(value if small else -value for value, small in values if value is not None)


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Tell whether one is nowhere worse than another, and somewhere better."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


Tell = Callable[[Trial], None]


def _proposed(search: Search) -> Iterator[tuple[dict[str, Any], Tell]]:
    """Give the settings of each trial, and what is told of it before the next one."""
    if search.sampler == "grid":
        for settings in search.grid():
            yield settings, lambda _: None
        return
    try:
        import optuna
    except ImportError:
        raise StudyError(
            "search: the sampler tpe needs optuna: pip install 'linkpool[search]'; or write "
            'sampler = "grid"'
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=search.seed,
            constraints_func=lambda trial: trial.user_attrs["excess"] if search.require else [],
        )
    directions = ["minimize" if small else "maximize" for _, small in search.objectives]
    study = optuna.create_study(directions=directions, sampler=sampler)
    for _ in range(search.trials):
        asked = study.ask()
        settings = {key: _suggested(asked, key, of) for key, of in search.space.items()}

        def tell(trial: Trial, asked: Any = asked) -> None:
            asked.set_user_attr("excess", trial.excess or [1.0] * len(search.require))
            asked_for = {name for name, _ in search.objectives}
            if trial.why or asked_for & trial.lacks.keys():
                study.tell(asked, state=optuna.trial.TrialState.FAIL)
            else:
                found = (trial.values[name] for name, _ in search.objectives)
                study.tell(asked, [value for value in found if value is not None])

        yield settings, tell


def _suggested(asked: Any, key: str, choices: Any) -> Any:
    if not isinstance(choices, Range):
        return asked.suggest_categorical(key, choices)
    suggest = asked.suggest_int if choices.is_whole else asked.suggest_float
    return suggest(key, choices.start, choices.end, log=choices.log)


def _try(
    study: Study,
    search: Search,
    number: int,
    settings: dict[str, Any],
    rivals: list[Trial] | None,
    out: Path,
    jobs: int | None,
    make: Make | None,
    notice: Notice | None,
    watch: Watch | None,
) -> Trial:
    """Make the runs of a trial that are not there yet, and measure them.

    It races with `rivals`; None: it makes all seeds.
    """
    one = _with(study, [Arm(name=f"trial {number}", set=settings)])
    try:
        plan = Plan.of(one, out, notice, make)
    except StudyError as error:
        return Trial(number, settings, {}, frozenset(), [], why=str(error))
    every = len(plan.entries)
    stops = [] if rivals is None else looks(every)
    made, frames = 0, []
    for upto in [*stops, every]:
        rows = run_entries(
            plan.entries[made:upto],
            lambda _, result: measure(result, search.measures),
            plan.cache,
            jobs or cpus(),
            watch,
        )
        made = upto
        frames += rows.frames
        trial = _measured(search, number, settings, replace(rows, frames=frames).data, made)
        if made < every and (why := lost(search, trial, rivals or [], len(stops))):
            return replace(trial, stopped=why)
    return trial


def lost(search: Search, trial: Trial, rivals: list[Trial], looks_in_all: int) -> str:
    """Say why a trial will not be on the front; "": it may be."""
    if beyond := trial.leaves_open(search):
        return _is_open(beyond[0])
    if any(not small and name in trial.open for name, small in search.objectives):
        return ""
    chances = looks_in_all * len(rivals)
    for rival in rivals:
        if is_worse(trial.by_seed, rival.by_seed, search.objectives, chances):
            return f"worse than {rival.name}"
    return ""


def _measured(
    search: Search, number: int, settings: dict[str, Any], data: pl.DataFrame, seeds: int
) -> Trial:
    """Return a trial by what was measured with its seeds so far."""
    table = over_seeds(data, [ARM], {})
    lacks = {name: _lack(name, _rows(data, name), seeds) for name in search.measures}
    lacks = {name: why for name, why in lacks.items() if why}
    found = {name: _value(table, name) for name in search.measures}
    values = {name: value for name, (value, _) in found.items()}
    bounds = frozenset(name for name, (_, at_least) in found.items() if at_least)
    excess = []
    for need in search.require:
        value = values[need.measure]
        is_open = need.is_below and need.measure in bounds
        known = need.measure not in lacks and not is_open
        side = 1.0 if need.is_below else -1.0
        beyond = side * ((value or 0.0) - need.bound)
        # A lower bound on a value that is to be small does not show that it is.
        excess.append(beyond if known else max(beyond, abs(need.bound), 1e-12))
    by_seed = {
        name: dict(_rows(data, name).drop_nulls("value").select(SEED, "value").iter_rows())
        for name, _ in search.objectives
    }
    return Trial(number, settings, values, bounds, excess, lacks, by_seed, seeds)


def _lack(name: str, rows: pl.DataFrame, seeds: int) -> str:
    """Say why runs have no value of a measure; "": all have one.

    Args:
        name: the measure.
        rows: what was measured of it with each seed.
        seeds: how many runs there are.

    """
    without = seeds - rows.drop_nulls("value")[SEED].n_unique()
    if not without:
        return ""
    verb = "has" if without == 1 else "have"
    runs = "no run has" if without == seeds else f"{without} of {seeds} runs {verb} no"
    said = f"{runs} {'a ' if without == seeds else ''}value of {name}"
    counts = rows.filter(pl.col("value").is_null())["count"].drop_nulls().to_list()
    if not counts:
        return said
    upto = "" if min(counts) == max(counts) else f" to {show_count(max(counts))}"
    few = f"{show_count(min(counts))}{upto}"
    return f"{said}: {too_few(measures.wanted(name).statistics[0])}, and there are {few}"


def _is_open(name: str) -> str:
    return f"unfinished flows leave {name} open"


def _value(table: pl.DataFrame, name: str) -> tuple[float | None, bool]:
    """Return the mean of a measure over the seeds, and whether it is a lower bound."""
    rows = _rows(table, name)
    return (None, False) if rows.is_empty() else (rows["mean"][0], bool(rows["at_least"][0]))


def _rows(table: pl.DataFrame, name: str) -> pl.DataFrame:
    asked = measures.wanted(name)
    of = table.filter(measure=asked.measure.name, statistic=asked.statistics[0])
    there = of["part"].unique().to_list()
    # Times of jobs and requests have no value of the whole run: that of the one label is meant.
    only = there[0] if len(there) == 1 else measures.ALL
    return of.filter(part=asked.part or (measures.ALL if measures.ALL in there else only))


def _with(study: Study, arms: list[Arm], **more: Any) -> Study:
    """Return a study of some trials of another."""
    asked_for = study.search.measures if study.search else []
    others = study.measures if "measures" in study.model_fields_set else []
    names = list(dict.fromkeys([*asked_for, *others]))
    fields = {"arms": arms, "search": None, "measures": names, "figures": [], "report": False}
    return study.model_copy(update={**fields, **more})


def _nothing(search: Search, trials: list[Trial]) -> str:
    """Say why no trial is on the front: what none meets, or what none has a value of."""
    ran = [one for one in trials if not one.why]
    if not ran:
        return f"search: no trial can run: {trials[0].why}"
    needs = ", ".join(map(str, search.require))
    able = [one for one in ran if one.is_feasible()]
    if able:
        meet = f"{len(able)} of {counted(len(ran), 'trial')} meet {needs}, but " if needs else ""
        first = able[0]
        why = first.leaves(search)[0]
        return f"search: {meet}none can be compared: {first.name}: {why}"
    nearest = min(ran, key=lambda one: sum(max(excess, 0.0) for excess in one.excess))
    at = ", ".join(f"{key} {value}" for key, value in nearest.settings.items())
    unmet = (one.measure for one in search.require if one.measure in nearest.lacks)
    why = "".join(f": {nearest.lacks[name]}" for name in list(unmet)[:1])
    return f"search: none of {counted(len(ran), 'trial')} meets {needs}; the nearest has {at}{why}"


def table_of(search: Search, trials: list[Trial], best: list[Trial]) -> pl.DataFrame:
    """Return a row per trial: settings, values, whether it is feasible and on the front."""
    numbers = {one.number for one in best}
    rows = [
        {
            "trial": one.number,
            **{key: str(value) for key, value in one.settings.items()},
            **{name: one.values.get(name) for name in search.measures},
            **search.bounds,
            "at_least": ", ".join(sorted(one.open)),
            "feasible": one.is_feasible(),
            "front": one.number in numbers,
            "seeds": one.seeds,
            "stopped": one.stopped,
            "why": one.reason,
        }
        for one in trials
    ]
    values = dict.fromkeys([*search.measures, *search.bounds], pl.Float64)
    return pl.DataFrame(rows, schema_overrides=values, infer_schema_length=None)


def _write(search: Search, table: pl.DataFrame, folder: Path) -> None:
    """Write what was searched, the trials as a table, and the front as a figure."""
    from linkpool.figures.kinds import KINDS  # here: matplotlib takes long to load
    from linkpool.figures.plot import render

    asked = search.model_dump(by_alias=True, exclude_defaults=True, exclude_none=True)
    (folder / SEARCH).write_text(dumps(asked), encoding="utf-8")
    table.write_csv(folder / f"{FRONT}.csv")
    (folder / f"{FRONT}.svg").write_bytes(render(KINDS[FRONT_KIND], table, ".svg"))

"""The machinery of studies: many runs, the measures of each, a figure, and judged claims.

An experiment is a frozen dataclass that derives from `Experiment`:

    from linkpool.study import Experiment, Ledger, Point, dumps, style, under

`points` returns its runs, each a `Point` with a scenario; `measure` reads the `Result` of one run
and returns its rows of the data; `frame` returns the panels of the figure; `judge` judges the data,
by criteria such as `about` and `under`, and collects the claims in a `Ledger`. `parts` names the
settings that are drawn and judged apart, if there are several.

`linkpool reproduce --from DIR` finds a file that calls its experiment `EXPERIMENT` in a folder. A
package brings its experiments by entry points of the group `linkpool.experiments`:

    [project.entry-points."linkpool.experiments"]
    My-fig1 = "mypackage.fig1:EXPERIMENT"

`style` and `frame` are modules of their own, as they load matplotlib: `from linkpool.study import
style`.

A user's `Study` is a base scenario, arms, varied settings, seeds and measures: `Plan.of` reads and
checks its runs, `run_study` makes them, and `StudyResult` reads what came of it.

`reproduce_experiment` makes the runs (`run_points`) that the `Cache` lacks, on all cores, and
publishes data, figure and claims as one directory.
"""

from typing import TYPE_CHECKING

from linkpool.shown import shown as _shown

if TYPE_CHECKING:
    from linkpool.publish import BusyError, Kind, NotAResultError, publish
    from linkpool.stats import Sample, describe, jain
    from linkpool.study import style
    from linkpool.study.cache import Cache, Entry
    from linkpool.study.claims import (
        Claim,
        Judged,
        Ledger,
        Verdict,
        about,
        alike,
        cases,
        grade,
        most,
        no_data,
        order_of_magnitude,
        over,
        same,
        together,
        under,
    )
    from linkpool.study.experiment import (
        KEY_DELAY,
        KEY_SCHEME,
        KEY_SEED,
        Experiment,
        each,
        with_seeds,
    )
    from linkpool.study.measures import MEASURES, Measure
    from linkpool.study.measuring import counted, sampled
    from linkpool.study.model import Arm, Study, StudyError
    from linkpool.study.perform import run_study
    from linkpool.study.plan import Plan
    from linkpool.study.point import Keys, Point
    from linkpool.study.pool import Rows, RunError, run_points
    from linkpool.study.registry import GROUP, Registry, RegistryError
    from linkpool.study.reproduce import (
        NothingToShortenError,
        Report,
        analyse,
        reproduce_experiment,
        shorten,
    )
    from linkpool.study.result import StudyResult, is_study
    from linkpool.study.schemes import LOOKS, NAMES, Look
    from linkpool.study.statistics import Spread
    from linkpool.study.toml import Table, Value, dumps

_HOMES = {
    "GROUP": "linkpool.study.registry",
    "KEY_DELAY": "linkpool.study.experiment",
    "KEY_SCHEME": "linkpool.study.experiment",
    "KEY_SEED": "linkpool.study.experiment",
    "LOOKS": "linkpool.study.schemes",
    "MEASURES": "linkpool.study.measures",
    "NAMES": "linkpool.study.schemes",
    "Arm": "linkpool.study.model",
    "BusyError": "linkpool.publish",
    "Cache": "linkpool.study.cache",
    "Claim": "linkpool.study.claims",
    "Entry": "linkpool.study.cache",
    "Experiment": "linkpool.study.experiment",
    "Judged": "linkpool.study.claims",
    "Keys": "linkpool.study.point",
    "Kind": "linkpool.publish",
    "Ledger": "linkpool.study.claims",
    "Look": "linkpool.study.schemes",
    "Measure": "linkpool.study.measures",
    "NotAResultError": "linkpool.publish",
    "NothingToShortenError": "linkpool.study.reproduce",
    "Plan": "linkpool.study.plan",
    "Point": "linkpool.study.point",
    "Registry": "linkpool.study.registry",
    "RegistryError": "linkpool.study.registry",
    "Report": "linkpool.study.reproduce",
    "Rows": "linkpool.study.pool",
    "RunError": "linkpool.study.pool",
    "Sample": "linkpool.stats",
    "Spread": "linkpool.study.statistics",
    "Study": "linkpool.study.model",
    "StudyError": "linkpool.study.model",
    "StudyResult": "linkpool.study.result",
    "Table": "linkpool.study.toml",
    "Value": "linkpool.study.toml",
    "Verdict": "linkpool.study.claims",
    "about": "linkpool.study.claims",
    "alike": "linkpool.study.claims",
    "analyse": "linkpool.study.reproduce",
    "cases": "linkpool.study.claims",
    "counted": "linkpool.study.measuring",
    "describe": "linkpool.stats",
    "dumps": "linkpool.study.toml",
    "each": "linkpool.study.experiment",
    "grade": "linkpool.study.claims",
    "is_study": "linkpool.study.result",
    "jain": "linkpool.stats",
    "most": "linkpool.study.claims",
    "no_data": "linkpool.study.claims",
    "order_of_magnitude": "linkpool.study.claims",
    "over": "linkpool.study.claims",
    "publish": "linkpool.publish",
    "reproduce_experiment": "linkpool.study.reproduce",
    "run_points": "linkpool.study.pool",
    "run_study": "linkpool.study.perform",
    "same": "linkpool.study.claims",
    "sampled": "linkpool.study.measuring",
    "shorten": "linkpool.study.reproduce",
    "together": "linkpool.study.claims",
    "under": "linkpool.study.claims",
    "with_seeds": "linkpool.study.experiment",
}

__getattr__, __dir__ = _shown(__name__, _HOMES)

__all__ = [
    "GROUP",
    "KEY_DELAY",
    "KEY_SCHEME",
    "KEY_SEED",
    "LOOKS",
    "MEASURES",
    "NAMES",
    "Arm",
    "BusyError",
    "Cache",
    "Claim",
    "Entry",
    "Experiment",
    "Judged",
    "Keys",
    "Kind",
    "Ledger",
    "Look",
    "Measure",
    "NotAResultError",
    "NothingToShortenError",
    "Plan",
    "Point",
    "Registry",
    "RegistryError",
    "Report",
    "Rows",
    "RunError",
    "Sample",
    "Spread",
    "Study",
    "StudyError",
    "StudyResult",
    "Table",
    "Value",
    "Verdict",
    "about",
    "alike",
    "analyse",
    "cases",
    "counted",
    "describe",
    "dumps",
    "each",
    "grade",
    "is_study",
    "jain",
    "most",
    "no_data",
    "order_of_magnitude",
    "over",
    "publish",
    "reproduce_experiment",
    "run_points",
    "run_study",
    "same",
    "sampled",
    "shorten",
    "style",
    "together",
    "under",
    "with_seeds",
]

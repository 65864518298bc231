"""What stands under the tables of several runs: what in them makes their numbers doubtful."""

from collections.abc import Iterable, Mapping, Sequence

from linkpool import manifest
from linkpool.manifest import Manifest
from linkpool.result import Result
from linkpool.units import counted, show_count, show_number

COUNTS = ("flows", "unfinished", "segments", "retransmits")
"""What is counted in each run: measured flows with a size, those of them that had not finished when
the run ended, and data segments of all measured flows, of which some were sent again."""

MUCH = 0.5
"""From this share of segments on that were sent again, most of the network's work was in vain."""


def counts_of(result: Result) -> dict[str, int]:
    """Return the `COUNTS` of a run."""
    group = result.written_summary["overall"]
    sized = group["finished"] + group["unfinished"]
    counts = (sized, group["unfinished"], group["segments"], group["retransmits"])
    return dict(zip(COUNTS, counts, strict=True))


def remarks(runs: Iterable[tuple[str, Mapping[str, int]]]) -> list[str]:
    """Say how many flows had not finished, and where more was sent again than was not.

    Args:
        runs: the name of each run's arm, and the run's `COUNTS`.

    >>> of_one = {"flows": 406, "unfinished": 132, "segments": 900, "retransmits": 460}
    >>> for line in remarks([("spray", of_one)]): print(line)
    not finished when the run ended: spray 132 of 406 flows (32.5%)
    more than half of all data segments were sent again: spray 51.1%

    """
    arms: dict[str, list[Mapping[str, int]]] = {}
    for name, counts in runs:
        arms.setdefault(name, []).append(counts)
    found = [_unfinished(arms), _sent_again(arms)]
    return [line for line in found if line]


def equal_runs(arms: Mapping[str, Sequence[Result]]) -> list[str]:
    """Say of which arms the flows of all runs are equal, whatever the seed.

    Args:
        arms: by name the results of each, one for each seed; those that are gone are left out.

    """
    several = {name: runs for name, of in arms.items() if len(runs := _there(of)) > 1}
    equal = [name for name, runs in several.items() if len(set(map(_flows, runs))) == 1]
    if not equal:
        return []
    most = max(len(several[name]) for name in equal)
    who = "every arm" if len(equal) == len(arms) > 1 else ", ".join(equal)
    return [
        f"the {most} runs of {who} are equal, whatever the seed: they are one observation, and "
        "intervals, p and * of them say nothing of chance"
    ]


def _there(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if (result.dir / manifest.NAME).exists()]


def _flows(result: Result) -> str:
    """Return the SHA-256 of the table of flows; results of one simulator and one seed have one."""
    return Manifest.read(result.dir).files["flows.parquet"].sha256


def _unfinished(arms: Mapping[str, list[Mapping[str, int]]]) -> str:
    said = []
    for name, of_runs in arms.items():
        flows = sum(counts["flows"] for counts in of_runs)
        unfinished = sum(counts["unfinished"] for counts in of_runs)
        if unfinished:
            share = show_number(100 * unfinished / flows)
            said.append(f"{name} {show_count(unfinished)} of {counted(flows, 'flow')} ({share}%)")
    if said:
        return f"not finished when the run ended: {', '.join(said)}"
    some = any(counts["flows"] for of_runs in arms.values() for counts in of_runs)
    return "every flow finished before the run ended" if some else ""


def _sent_again(arms: Mapping[str, list[Mapping[str, int]]]) -> str:
    said = []
    for name, of_runs in arms.items():
        shares = [counts["retransmits"] / max(counts["segments"], 1) for counts in of_runs]
        many = [share for share in shares if share > MUCH]
        if many:
            upto = "up to " if len(many) > 1 else ""
            runs = f" in {len(many)} of {len(shares)} runs" if len(shares) > 1 else ""
            said.append(f"{name} {upto}{show_number(100 * max(many))}%{runs}")
    return f"more than half of all data segments were sent again: {', '.join(said)}" if said else ""

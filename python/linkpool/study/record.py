"""The record of a reproduction: by which version, with which seeds, and what its runs cost."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from linkpool.result import Result

NAME = "record.json"


class NoRecordError(ValueError):
    """A directory lacks the record of a reproduction; the message names it."""


@dataclass(frozen=True)
class Record:
    """How a reproduction was made.

    Attributes:
        experiment: its id.
        version: the version of linkpool.
        simulator: SHA-256 of the simulator's binary.
        seeds: seeds 1 to this were run.
        of_seeds: how many seeds there would have been without `scale`.
        scale: the share of the work that was asked for; 1 for all.
        runs: number of runs.
        extent: how much was run, in words.
        shortened: what was run instead of what; empty for a full reproduction.
        cpu_s: processor seconds of the runs, of those that had been made before, too. Runs on
            several threads count what their process used meanwhile, so theirs is an upper bound.
        packet_hops: packets of all runs times the links that they crossed.

    """

    experiment: str
    version: str
    simulator: str
    seeds: int
    of_seeds: int
    scale: float
    runs: int
    extent: str
    shortened: str
    cpu_s: float
    packet_hops: int

    def write(self, directory: Path) -> None:
        """Write the record to a directory."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        (directory / NAME).write_text(f"{text}\n", encoding="utf-8")

    @classmethod
    def read(cls, file: Path) -> "Record":
        """Read a record.

        Raises:
            NoRecordError: there is none in this file.

        """
        try:
            return cls.of(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise NoRecordError(f"{file}: not the record of a reproduction: {error}") from None

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Record":
        """Return the record that a JSON object holds; its other keys are left out."""
        return cls(**{field.name: content[field.name] for field in fields(cls)})


def cost(results: Iterable[Result]) -> tuple[float, int]:
    """Return the processor seconds of runs, and their packet-hops."""
    seconds, hops = 0.0, 0
    for result in results:
        run = result.run
        # A run on several threads counts what its process used; it used no more than all of them.
        most = float(run.get("wall_s", 0.0)) * int(run.get("threads", 1))
        seconds += min(float(run.get("cpu_s", 0.0)), most)
        hops += int(run.get("packet_hops", 0))
    return seconds, hops

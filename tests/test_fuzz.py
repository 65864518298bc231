"""Damaged scenarios and files through the whole command line: they run (0) or are refused (2).

`LINKPOOL_CASES=N` makes N cases; `LINKPOOL_SEED=S` repeats those that a failure names. The loader
alone is fuzzed, with many more cases, in `crates/scenario/tests/it/fuzz`.
"""

import os
import random
import shutil
import time
from pathlib import Path

import pytest

from test_cli import Captured, call

pytestmark = pytest.mark.core

DOCS = Path(__file__).parents[1] / "docs"
WORDS = ["0", "-1", "1", "2", "65536", "4294967296", '"0s"', '"1ps"', '"unlimited"', '"h0"', "true"]
WORDS += ["nan", '""', "[]", "\x00", "\x1b[31m", "->", '"', "\n", ",", "18446744073709551616"]
# So short that no damage makes a run long.
BRIEF = ("--set", "duration=100us", "--set", "drain=0s")


def damaged(content: str, draw: random.Random) -> str:
    """Change one to three places."""
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(content) + 1)
        end = min(len(content), at + draw.randint(0, 12))
        word = draw.choice([*WORDS, "", content[at : at + 20]])
        content = content[:at] + word + content[end:]
    return content


@pytest.mark.parametrize("number", range(int(os.environ.get("LINKPOOL_CASES", "40"))))
def test_damaged_input_runs_or_is_refused(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    seed = int(os.environ.get("LINKPOOL_SEED", time.time_ns())) + number
    draw = random.Random(seed)
    kind = draw.choice(["topologies", "workloads", "cookbook"])
    place = tmp_path / kind
    shutil.copytree(DOCS / kind, place, ignore=shutil.ignore_patterns("*.png", "*.md"))
    files = sorted(place.iterdir())
    chosen = draw.choice(files)
    # Byte by byte: some files are binary.
    content = chosen.read_bytes().decode("latin-1")
    chosen.write_bytes(damaged(content, draw).encode("latin-1"))
    around = chosen if chosen.suffix == ".toml" else place / _scenario_of(chosen, files)
    code = call(monkeypatch, "run", around, "--out", tmp_path / "out", *BRIEF)
    message = capsys.readouterr().err
    assert code in (0, 2), f"LINKPOOL_SEED={seed} LINKPOOL_CASES=1: {message}"
    assert "Traceback" not in message


def _scenario_of(file: Path, files: list[Path]) -> str:
    """Return a scenario that includes the file."""
    # A scenario names the files of a Chakra trace, NAME.0.et and so on, by NAME.
    names = (f'"{file.name}"', f'"{file.name.split(".")[0]}"')
    for scenario in (f for f in files if f.suffix == ".toml"):
        if any(name in scenario.read_text("utf-8") for name in names):
            return scenario.name
    return "trace.toml"

"""Read scenario files, with values of Python for some of their keys."""

import errno
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from linkpool import _core
from linkpool.limits import require_seed

Value: TypeAlias = "str | int | float | bool | Sequence[Value] | Mapping[str, Value]"

MOST_BYTES = 256 << 20
"""No scenario file is larger."""


def load(
    scenario: str | Path,
    *,
    seed: int | None = None,
    overrides: list[tuple[str, str]],
    run_code: bool = False,
) -> _core.Scenario:
    """Read and check a scenario file, with overrides as `--set` takes them.

    Code that it brings (`controls`) is refused, unless the caller or the user asks to run it: only
    `run`, `study run` and `reproduce` do so unasked, as that is what they are for.
    """
    require_seed(seed)
    if "\n" in str(scenario):
        raise ValueError(
            "a scenario is named by its file; this is a text of several lines: write it to a file, "
            "or use linkpool.Scenario.of(tomllib.loads(text)).run()"
        )
    path = Path(scenario)
    return _core.load(read_text(path), str(path), seed, overrides, run_code)


def read_text(path: Path) -> str:
    """Return the text of a scenario file."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"larger than {MOST_BYTES >> 20} MiB", str(path))
    return content.decode("utf-8")


def overrides(values: Mapping[str, Value] | None) -> list[tuple[str, str]]:
    """Write Python values as `--set` takes them."""
    return [(key, _toml(value)) for key, value in (values or {}).items()]


def _toml(value: Value) -> str:
    # A text is written bare: text that is valid TOML is read as TOML, other text as a string.
    return value if isinstance(value, str) else inline(value)


def inline(value: Value) -> str:
    """Write a value as TOML, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # Of the characters that TOML escapes, JSON does not escape DEL.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{inline(key)} = {inline(part)}" for key, part in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(inline, value)) + "]"
    return str(value)

"""`linkpool replay`: make a run again, with more recording."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.console import RunCode, fail, say, stderr
from linkpool.cli.progress import watching
from linkpool.cli.replaced import say_replaced
from linkpool.cli.show import require_result
from linkpool.limits import MOST_THREADS
from linkpool.loading import Value
from linkpool.publish import require_replaceable
from linkpool.replay import ReplayError
from linkpool.replay import replay as repeat


def replay(
    directory: Annotated[Path, typer.Argument(metavar="RESULT", help="A result of linkpool run.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Directory of the new result.")],
    record: Annotated[
        list[str],
        typer.Option(
            "--record",
            metavar="KEY[=VALUE]",
            help="A key of [record], as in cwnd.every=1ms, or a table of its own with its "
            "defaults, as in capture (repeatable).",
        ),
    ],
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, max=MOST_THREADS, help="As of linkpool run."),
    ] = None,
    run_code: RunCode = False,
) -> None:
    """Make the run of a result again, and record more: time series, or a packet capture.

    The tables that both results have must be equal, but for the series that are asked for here.
    Another build of linkpool than the one that made the result is named.
    """
    require_replaceable(out)
    if out.resolve() == directory.resolve():
        fail(f"{out} is the result that is to be replayed; name another directory")
    result = require_result(directory, run_code)
    say_replaced(out)
    try:
        with watching(directory.name, lambda: float(result.run["packet_hops"])) as watch:
            _, note = repeat(
                result,
                dict(map(_key, record)),
                out=out,
                progress=watch,
                threads=threads,
            )
    except (ReplayError, _core.ScenarioError) as error:
        fail(str(error))
    if note:
        stderr().print(f"{note}; the tables that both results have are equal")
    say(out)


def _key(written: str) -> tuple[str, Value]:
    key, equals, value = written.partition("=")
    if not key.strip():
        fail(f"--record {written}: write it as KEY=VALUE, as in --record cwnd.every=1ms")
    return key.strip(), value.strip() if equals else {}

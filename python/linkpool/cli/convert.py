"""`linkpool convert`: programs of ranks in another format."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.console import fail, say
from linkpool.publish import publish_file


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="FROM", help="A GOAL file, text or binary, or a scenario.")
    ],
    target: Annotated[
        Path,
        typer.Argument(metavar="TO", help="A name that ends in .goal (text) or .bin."),
    ],
) -> None:
    """Write programs of ranks as GOAL, text or binary.

    Of a scenario, the first workload of kind `program`, `collective` or `training` is written.
    """
    try:
        with publish_file(target) as file:
            _core.convert(str(source), str(file))
    except ValueError as error:
        fail(str(error).replace(str(file), str(target)))
    say(target)

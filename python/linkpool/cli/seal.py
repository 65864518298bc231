"""`linkpool seal`: make a result of the tables that the C library has written."""

from pathlib import Path
from typing import Annotated

import typer

from linkpool.cli.console import fail, say
from linkpool.session import seal_tables


def seal(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="What a program had the C library write.")
    ],
) -> None:
    """Make a result of the tables that the C library has written.

    It adds the manifest. Then `linkpool show`, `report`, `explain` and the others
    take it. The tables stay as they are.
    """
    try:
        seal_tables(directory)
    except ValueError as error:
        fail(str(error))
    say(f"{directory} is a result")

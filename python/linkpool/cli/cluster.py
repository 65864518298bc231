"""The option `--on`: a Dask scheduler whose workers make the runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from linkpool.cli.console import fail

if TYPE_CHECKING:
    from linkpool.study.remote import Remote

On: TypeAlias = Annotated[
    str | None,
    typer.Option("--on", metavar="tcp://HOST:PORT", help="Send the runs to this Dask scheduler."),
]


@contextmanager
def connected(address: str | None) -> "Iterator[Remote | None]":
    """Connect to the scheduler, if one is named, and leave it at the end."""
    if address is None:
        yield None
        return
    from linkpool.study.remote import Remote, RemoteError  # here: it takes long to load

    try:
        remote = Remote(address)
    except RemoteError as error:
        fail(str(error))
    try:
        yield remote
    finally:
        remote.close()

"""`linkpool linux`: passes its arguments on to `linkpool-linux`, which needs no Python."""

import os
import shutil

import typer

from linkpool.cli.console import fail

PROGRAM = "linkpool-linux"


def linux(context: typer.Context) -> None:
    """Control congestion of Linux's own MPTCP (eBPF), and run scenarios on the real stack.

    All arguments go to the program linkpool-linux; `linkpool linux --help` shows its commands.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        fail(
            f"{PROGRAM} is not installed: install its Debian package, or build it in a checkout "
            "of linkpool (needs clang and libelf): cargo install --path linux/cli",
            code=1,
        )
    os.execv(program, [PROGRAM, *context.args])

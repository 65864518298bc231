"""Commands that are loaded when they are called: the others cost no time.

A group lists its commands with the first sentence of their help, and loads only the module of the
one that is called.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from linkpool.cli.console import fail
from linkpool.cli.quick import QuickCommand, QuickParams


class Command(NamedTuple):
    """A command that is yet to be loaded.

    Attributes:
        home: its function, as MODULE:FUNCTION.
        help: the first paragraph of its help.
        on_interrupt: what Ctrl-C prints; None: the function is another program, whose Ctrl-C,
            options and exit codes are its own.

    """

    home: str
    help: str
    on_interrupt: str | None = "interrupted"

    def load(self, name: str) -> Any:
        """Import the module, and return the command."""
        module, _, function = self.home.partition(":")
        found = getattr(import_module(module), function)
        one = typer.Typer(
            add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
        )
        if self.on_interrupt is None:
            passed_on = {"allow_extra_args": True, "ignore_unknown_options": True}
            one.command(name, context_settings={**passed_on, "help_option_names": []})(found)
        else:
            one.command(name, cls=QuickCommand)(_interruptible(found, self.on_interrupt))
        return get_command(one)


Commands = Mapping[str, "Command | typer.Typer"]


def group(commands: Commands, **settings: Any) -> typer.Typer:
    """Return a group of commands; `settings` are those of `typer.Typer`."""

    class Group(_Group):
        listed = commands

    return typer.Typer(
        cls=Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        **settings,
    )


class _Group(QuickParams, TyperGroup):
    """A group of which the commands are loaded when they are called."""

    listed: Commands = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, one in self.listed.items():
            self.commands[name] = (
                TyperCommand(name, help=one.help)
                if isinstance(one, Command)
                else _named(get_group(one), name)
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and self.loaded(str(name)), rest

    def loaded(self, name: str) -> Any:
        """Return a command, loaded."""
        one = self.listed[name]
        return one.load(name) if isinstance(one, Command) else self.commands[name]


def loaded(app: typer.Typer) -> dict[str, Any]:
    """Return all commands of a group by their names, loaded; those of a group in it as well.

    Names are those that are typed, as `study run`.
    """
    return _loaded(get_group(app), "")


def _loaded(of: Any, before: str) -> dict[str, Any]:
    found = {}
    for name in of.listed:
        one = of.loaded(name)
        found[before + name] = one
        if isinstance(one, _Group):
            found |= _loaded(one, f"{before}{name} ")
    return found


def _named(one: Any, name: str) -> Any:
    one.name = name
    return one


def _interruptible(function: Callable[..., None], on_interrupt: str) -> Callable[..., None]:
    """Return a command that Ctrl-C ends by a line."""

    @wraps(function)
    def interruptible(*values: object, **named: object) -> None:
        try:
            function(*values, **named)
        except KeyboardInterrupt:
            fail(on_interrupt, code=130)

    return interruptible

"""The modules of a Python package and what they import, as tests of layers need them."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

Module = tuple[str, ...]


def read_package(root: Path) -> dict[Module, str]:
    """Return the text of every module of a package, by its name without the package's."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[parts[:-1] if parts[-1] == "__init__" else parts] = path.read_text(encoding="utf-8")
    return found


def imports(package: str, modules: dict[Module, str]) -> dict[Module, set[Module]]:
    """Return which modules import which, anywhere in them; imports for type checkers do not count.

    The face of the package, its own `__init__`, stands above all and counts for nobody. A name
    that a folder's `__init__` shows is looked for where that has it from. A module that is named by
    a text, as `package.module:function`, is imported later, and counts.
    """
    return {
        module: {
            found
            for name in (*_imported(_parsed(text)), *_named(package, _parsed(text)))
            for found in [_home(package, name, modules)]
            if found and found != module
        }
        for module, text in modules.items()
        if module
    }


_parsed = cache(ast.parse)
"""A module is asked for each name that others import from it."""


def _home(package: str, name: Module, modules: dict[Module, str]) -> Module | None:
    """Return the module that a dotted name means: one, or where what it names has its home."""
    if name[:1] != (package,):
        return None
    found, rest = name[1:], name[:0]
    while found and found not in modules:
        found, rest = found[:-1], (found[-1], *rest)
    if found and rest:
        for node in _shown(_parsed(modules[found])):
            if _shows(node, rest[0]):
                is_folder = any(other[:-1] == found for other in modules)
                shown = (*(node.module or "").split("."), _own_name(node, rest[0]))
                return _home(package, shown, modules) if is_folder else found
    return found or None


def _shown(module: ast.Module) -> Iterator[ast.ImportFrom]:
    """Yield what a module imports at its top; a face that loads later says it to type checkers."""
    for node in module.body:
        late = isinstance(node, ast.If) and _is_for_type_checkers(node.test)
        parts = node.body if late and isinstance(node, ast.If) else [node]
        yield from (part for part in parts if isinstance(part, ast.ImportFrom))


def _named(package: str, module: ast.Module) -> Iterator[Module]:
    """Yield the modules that texts of a module name."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.fullmatch(rf"{package}((?:\.\w+)+):[\w.]+", node.value)
            if found:
                yield (package, *found[1][1:].split("."))


def _shows(node: ast.ImportFrom, name: str) -> bool:
    return any((alias.asname or alias.name) == name for alias in node.names)


def _own_name(node: ast.ImportFrom, name: str) -> str:
    return next(alias.name for alias in node.names if (alias.asname or alias.name) == name)


def _imported(node: ast.AST) -> Iterator[Module]:
    """Yield the dotted names that a part of a module imports when it runs."""
    parts = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and _is_for_type_checkers(node.test):
        parts = iter(node.orelse)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield tuple(alias.name.split("."))
    elif isinstance(node, ast.ImportFrom):
        assert not node.level, "imports are absolute"
        for alias in node.names:
            yield (*(node.module or "").split("."), alias.name)
    for part in parts:
        yield from _imported(part)


def _is_for_type_checkers(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"

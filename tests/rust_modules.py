"""Read which modules of a Rust crate use which others, from `use` declarations and paths.

This is no Rust compiler: it knows comments, strings, `mod`, `use` and paths, which is enough for
the sources of this workspace. Tests inside modules are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

Module = tuple[str, ...]

IDENTIFIER = r"[A-Za-z_]\w*"
# Strings before comments: a string may hold `//`, and a comment a quote.
BLANKED = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL
)
TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:mod\s+\w+\s*(;|\{)|use\s[^;]*;)")
USE = re.compile(r"(?P<pub>pub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
PATH = re.compile(rf"(?<![\w:.])({IDENTIFIER}(?:\s*::\s*{IDENTIFIER})+)")


@dataclass
class Import:
    """A name that a `use` declaration brings into a module; `*` stands for all names."""

    name: str
    path: Module
    is_public: bool


@dataclass
class Source:
    """What a file says, without comments, strings and tests."""

    imports: list[Import] = field(default_factory=list)
    paths: list[Module] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


def parse(text: str) -> Source:
    """Read the text of one file."""
    text = without_tests(BLANKED.sub('""', text))
    source = Source()
    for declaration in USE.finditer(text):
        for path, name in expand(declaration["tree"]):
            source.imports.append(Import(name, path, declaration["pub"] is not None))
    rest = USE.sub("", text)
    source.paths = [tuple(re.split(r"\s*::\s*", path)) for path in PATH.findall(rest)]
    source.names = set(re.findall(IDENTIFIER, rest))
    return source


def without_tests(text: str) -> str:
    """Return `text` without what is compiled for tests only."""
    kept = ""
    while test := TEST.search(text):
        kept += text[: test.start()]
        end = test.end()
        if test[1] == "{":
            depth = 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
        text = text[end:]
    return kept + text


def expand(tree: str) -> Iterator[tuple[Module, str]]:
    """Yield the paths of a use tree, each with the name that it gets."""
    tree = tree.strip().removeprefix("::")
    head, brace, inner = tree.partition("{")
    prefix = tuple(part.strip() for part in head.split("::") if part.strip())
    if brace:
        for branch in split_branches(inner.rpartition("}")[0]):
            for path, name in expand(branch):
                if path == ("self",):
                    yield prefix, name if name != "self" else prefix[-1]
                else:
                    yield prefix + path, name
        return
    plain, _, alias = tree.partition(" as ")
    parts = tuple(part.strip() for part in plain.split("::"))
    yield parts, alias.strip() or parts[-1]


def split_branches(text: str) -> Iterator[str]:
    """Split at commas that stand in no braces."""
    depth, start = 0, 0
    for i, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield text[start:i]
            start = i + 1
    if text[start:].strip():
        yield text[start:]


def read_crate(source: Path) -> dict[Module, Source]:
    """Read all modules under the `src` folder of a crate."""
    modules = {}
    for file in sorted(source.rglob("*.rs")):
        parts = file.relative_to(source).with_suffix("").parts
        if parts[-1] in ("mod", "lib"):
            parts = parts[:-1]
        modules[parts] = parse(file.read_text(encoding="utf-8"))
    return modules


class Crate:
    """The modules of a crate, and which uses which."""

    def __init__(self, modules: dict[Module, Source]) -> None:
        self.modules = modules

    def uses(self) -> dict[Module, set[Module]]:
        """Return for each module those that define what it uses."""
        return {module: set(self.used_by(module)) for module in self.modules}

    def used_by(self, module: Module) -> Iterator[Module]:
        source = self.modules[module]
        for imported in source.imports:
            for target in self.definers(module, imported.path):
                # A module may show what those inside it define, without using it.
                shows = imported.is_public and target[: len(module)] == module
                if target != module and not (shows and imported.name not in source.names):
                    yield target
        for path in source.paths:
            for target in self.definers(module, path):
                if target != module:
                    yield target

    def definers(
        self, module: Module, path: Module, seen: Iterable[tuple[Module, str]] = ()
    ) -> set[Module]:
        """Return the modules that define what `module` calls `path`, if it is of the crate."""
        found = self.resolve(module, path)
        if found is None:
            return set()
        place, rest = found
        if not rest:
            return {place}
        name = rest[0]
        if (place, name) in seen:
            return {place}
        seen = [*seen, (place, name)]
        source = self.modules[place]
        for imported in source.imports:
            if imported.name == name:
                return self.definers(place, (*imported.path, *rest[1:]), seen)
        if name == "*":
            return {place} | {
                t for i in source.imports if i.is_public for t in self.definers(place, i.path, seen)
            }
        globs = [i.path[:-1] for i in source.imports if i.name == "*"]
        if name not in source.names:
            for path in globs:
                targets = self.definers(place, (*path, name), seen)
                if targets:
                    return targets
        return {place}

    def resolve(self, module: Module, path: Module) -> tuple[Module, Module] | None:
        """Split `path`, as `module` says it, into a module of the crate and what is left."""
        first, rest = path[0], path[1:]
        if first == "crate":
            place: Module = ()
        elif first == "self":
            place = module
        elif first == "super":
            place = module[:-1]
            while rest and rest[0] == "super":
                place, rest = place[:-1], rest[1:]
        elif (*module, first) in self.modules:
            place, rest = module, path
        else:
            named = [i for i in self.modules[module].imports if i.name == first and i.path != path]
            if not named or not rest:
                return None
            found = self.resolve(module, named[0].path) if named[0].path[0] != first else None
            if found is None or found[1]:
                return None
            place = found[0]
        while rest and (*place, rest[0]) in self.modules:
            place, rest = (*place, rest[0]), rest[1:]
        return place, rest


def knots(uses: dict[Module, set[Module]]) -> list[list[Module]]:
    """Return the groups of modules that use each other, directly or not."""

    def reach(module: Module) -> set[Module]:
        reached: set[Module] = set()
        ways = [module]
        while ways:
            for other in uses[ways.pop()] - reached:
                reached.add(other)
                ways.append(other)
        return reached

    reached = {module: reach(module) for module in uses}
    groups = {
        tuple(sorted(o for o in uses if o in reached[m] and m in reached[o]))
        for m in uses
        if m in reached[m]
    }
    return [list(group) for group in sorted(groups)]

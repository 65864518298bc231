"""Layers know only the layers below them: crates, and the modules of each crate."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import tomli

from linkpool import verbs
from python_modules import imports, read_package
from rust_modules import Crate, Module, Source, knots, parse, read_crate

ROOT = Path(__file__).resolve().parent.parent
CRATES = ROOT / "crates"

# A crate may depend on those of lower numbers.
LAYERS = {
    "units": 0,
    "engine": 1,
    "settings": 1,
    "transport": 2,
    "network": 3,
    "workload": 4,
    "formats": 5,
    "scenario": 6,
    "sim": 7,
    "python": 8,
    "capi": 8,
}

# The same of linux/, by the names of its packages. Of crates/ it may use any but
# the extension module.
LINUX_LAYERS = {
    "linkpool-linux-control": 0,
    "linkpool-linux-twins": 1,
    "linkpool-linux-testbed": 1,
    "linkpool-linux": 2,
}


def crate_names() -> list[str]:
    return sorted(manifest.parent.name for manifest in CRATES.glob("*/Cargo.toml"))


@pytest.mark.parametrize("crate", crate_names())
def test_crates_depend_on_lower_ones_only(crate: str) -> None:
    manifest = tomli.loads((CRATES / crate / "Cargo.toml").read_text(encoding="utf-8"))
    used = [
        name.removeprefix("linkpool-")
        for name in manifest["dependencies"]
        if name.startswith("linkpool-")
    ]
    assert crate in LAYERS, f"which layer is crates/{crate}? Say so in {__file__}"
    upward = [other for other in used if LAYERS[other] >= LAYERS[crate]]
    assert upward == []


@pytest.mark.parametrize("manifest", sorted((ROOT / "linux").glob("*/Cargo.toml")), ids=str)
def test_crates_for_linux_depend_on_lower_ones_only(manifest: Path) -> None:
    read = tomli.loads(manifest.read_text(encoding="utf-8"))
    name = read["package"]["name"]
    assert name in LINUX_LAYERS, f"which layer is {manifest}? Say so in {__file__}"
    used = [other for other in read["dependencies"] if other.startswith("linkpool-")]
    upward = [other for other in used if LINUX_LAYERS.get(other, -1) >= LINUX_LAYERS[name]]
    assert upward == []
    assert "linkpool-python" not in used


def crates_with_sources() -> list[str]:
    folders = [*CRATES.glob("*/src"), *(ROOT / "linux").glob("*/src")]
    return sorted(str(folder.parent.relative_to(ROOT)) for folder in folders)


@pytest.mark.parametrize("crate", crates_with_sources())
def test_modules_form_no_cycle(crate: str) -> None:
    uses = Crate(read_crate(ROOT / crate / "src")).uses()
    found = [["::".join(m) for m in knot] for knot in knots(between_neighbours(uses))]
    assert found == [], "these modules use each other, directly or not"


@cache
def python() -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Return which modules of the package import which."""
    return imports("linkpool", read_package(ROOT / "python" / "linkpool"))


def test_modules_in_python_form_no_circle() -> None:
    """Imports in functions count, those for type checkers do not."""
    found = [[".".join(module) for module in knot] for knot in knots(python())]
    assert found == [], "these modules import each other, directly or not"


def above(module: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return the modules that import a module, directly or not."""
    found: set[tuple[str, ...]] = set()
    ways = [module]
    while ways:
        last = ways.pop()
        new = {other for other, used in python().items() if last in used} - found
        found |= new
        ways += new
    return found


def test_verbs_of_values_stand_above_them() -> None:
    """Their homes are written as text, so that nothing imports them before they are used."""
    values = {"Result": ("result",), "Study": ("study", "model")}
    assert verbs.attached()
    for name in verbs.attached():
        function = verbs.verb(name)
        home = tuple(function.__module__.split(".")[1:])
        assert home in above(values[name.partition(".")[0]]), name


def imported_by(**files: str) -> dict[str, set[str]]:
    modules = {tuple(name.split("__")): text for name, text in files.items()} | {(): ""}
    found = imports("p", modules)
    return {".".join(module): {".".join(other) for other in used} for module, used in found.items()}


def test_imports_in_functions_count_and_those_for_type_checkers_do_not() -> None:
    text = """
import os
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from p.a import A
else:
    import p.d
def f():
    from p import b
    class C:
        def g(self):
            try:
                from p.c import C
            except ImportError:
                import p.e.f
"""
    used = imported_by(m=text, a="", b="", c="", d="", e="", e__f="")
    assert used["m"] == {"b", "c", "d", "e.f"}


def test_what_a_folder_shows_is_looked_for_where_it_is() -> None:
    """What a module imports is no part of it, but what a folder's face imports is shown there."""
    used = imported_by(
        m="from p.e import F as G, own",
        n="from p.a import F",
        a="from p.e.f import F",
        e="from p.e.f import F\nown = 1",
        e__f="",
    )
    assert (used["m"], used["n"], used["e"]) == ({"e", "e.f"}, {"a"}, {"e.f"})


def test_modules_that_texts_name_and_faces_that_load_later_count() -> None:
    used = imported_by(
        m="HOMES = {'x': 'p.a:X', 'y': 'p.e.f:Y', 'z': 'no p.b module', 'w': 'q.b:W', 'v': 'p.b'}",
        n="from p.e import F",
        a="",
        b="",
        e="if TYPE_CHECKING:\n    from p.e.f import F\nHOMES = {'F': 'p.e.f'}",
        e__f="",
    )
    assert (used["m"], used["n"], used["e"]) == ({"a", "e.f"}, {"e.f"}, set())


def between_neighbours(uses: dict[Module, set[Module]]) -> dict[Module, set[Module]]:
    """Return which modules use which, of those that stand side by side in a folder.

    What is inside a module is part of it: its uses are those of the module. A part may use the
    module that it is a part of.
    """
    neighbours: dict[Module, set[Module]] = {}
    for module, others in uses.items():
        for other in others:
            same = 0
            while same < min(len(module), len(other)) and module[same] == other[same]:
                same += 1
            if same < min(len(module), len(other)):
                neighbours.setdefault(module[: same + 1], set()).add(other[: same + 1])
                neighbours.setdefault(other[: same + 1], set())
    return neighbours


def uses_of(**files: str) -> dict[str, set[str]]:
    modules: dict[Module, Source] = {(): parse(files.pop("lib", ""))}
    modules |= {tuple(name.split("__")): parse(text) for name, text in files.items()}
    uses = Crate(modules).uses()
    return {"::".join(module): {"::".join(o) for o in others} for module, others in uses.items()}


def test_use_trees_name_their_modules() -> None:
    uses = uses_of(
        a="use crate::{b::{self, B}, c::C as D};\nuse std::fmt;", b="struct B;", c="struct C;"
    )
    assert uses["a"] == {"b", "c"}


def test_paths_in_code_count() -> None:
    uses = uses_of(
        a="use crate::b;\nfn f() { b::g(); crate::c::g(); super::d::g() }",
        b="",
        c="",
        d="",
        lib="mod a;",
    )
    assert uses["a"] == {"b", "c", "d"}


def test_comments_strings_and_tests_do_not_count() -> None:
    text = """
    // use crate::b::B;
    /* use crate::b::B; */
    const S: &str = "use crate::b::B; // \\" ";
    fn f<'a>(x: &'a str) -> char { '"' }
    #[cfg(test)]
    mod tests { use crate::b::B; fn g() { if true {} } }
    use crate::c::C;
    """
    assert uses_of(a=text, b="struct B;", c="struct C;")["a"] == {"c"}


def test_names_are_looked_for_where_they_are_defined() -> None:
    uses = uses_of(
        facade="pub use inner::Inner;\npub use other::*;",
        facade__inner="pub struct Inner;",
        facade__other="pub struct Other;",
        user="use crate::facade::{Inner, Other};",
    )
    assert uses["user"] == {"facade::inner", "facade::other"}
    assert uses["facade"] == set(), "it shows, and does not use"


def test_what_is_shown_and_used_counts() -> None:
    uses = uses_of(
        facade="pub use inner::Inner;\nstruct S(Inner);", facade__inner="pub struct Inner;"
    )
    assert uses["facade"] == {"facade::inner"}


def test_knots_are_found() -> None:
    uses = uses_of(
        a="use crate::b::B;", b="use super::c::C; struct B;", c="use crate::a;", d="use crate::a;"
    )
    assert knots(as_modules(uses)) == [[("a",), ("b",), ("c",)]]
    assert knots({("a",): set()}) == []


def test_folders_count_as_a_whole() -> None:
    uses = uses_of(
        f="",
        f__x="use crate::g::y::Y; struct X;",
        g="",
        g__y="struct Y;",
        g__z="use crate::f::x::X;",
    )
    assert knots(as_modules(uses)) == []
    assert knots(between_neighbours(as_modules(uses))) == [[("f",), ("g",)]]


def as_modules(uses: dict[str, set[str]]) -> dict[Module, set[Module]]:
    return {tuple(m.split("::")): {tuple(o.split("::")) for o in uses[m]} for m in uses}

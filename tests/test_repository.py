"""The repository keeps its habits: links lead somewhere, dependencies are used, files begin with
a sentence."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]


def files(*patterns: str) -> list[Path]:
    """Return the files of the project by git's patterns, so that what was built is left out."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found = [ROOT / name for name in listed.stdout.splitlines()]
    return [path for path in found if path.exists()]


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


PAGES = files("*.md")
CRATES = sorted((ROOT / "crates").glob("*/Cargo.toml"))


def test_the_repository_is_found() -> None:
    assert len(PAGES) > 10
    assert len(CRATES) >= 8


STILL_WIDE = ("network", "sim", "transport")
"""Crates whose comments are not all wrapped at 100 columns."""


@pytest.mark.parametrize("folder", ["crates", "linux"])
def test_comments_wrap_at_100_columns(folder: str) -> None:
    found = files(f"{folder}/*.rs")
    assert len(found) > 30
    wide = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in found
        if path.relative_to(ROOT).parts[1] not in STILL_WIDE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 100 and line.lstrip().startswith("//")
    ]
    assert wide == []


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*)$", prose(page), flags=re.M)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        to = page.parent / name if name else page
        assert to.exists(), f"{target} is not there"
        if anchor:
            assert anchor in anchors(to), f"{target}: no such heading"


def test_every_page_of_the_documentation_is_in_the_menu_of_the_site() -> None:
    """mkdocs would fail too, and later; the build makes the pages of commands and notebook."""
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"([\w/.-]+\.md)$", menu, flags=re.M)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in files("docs/*.md")}
    dated = {page for page in pages if page.startswith("reports/2")}
    assert sorted(listed) == sorted({*pages, "commands.md", "notebook.md"} - dated)


def test_every_dated_report_is_in_the_index_of_reports() -> None:
    index = (ROOT / "docs/reports/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| .* \| \[.*\]\((2[\w-]+\.md)\) \|", index, flags=re.M)
    assert sorted(listed) == sorted(path.name for path in files("docs/reports/2*.md"))


# Files that a page tells its reader to make.
TO_BE_MADE = {"crates/transport/src/control/scalable.rs"}


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_files_that_a_page_names_are_there(page: Path) -> None:
    """`crates/...`, `python/...`, `tests/...`, `docs/...` and `benchmarks/...` in backticks."""
    for name in re.findall(r"`((?:crates|python|tests|docs|benchmarks)/[\w./-]*)`", prose(page)):
        assert name in TO_BE_MADE or (ROOT / name).exists(), f"{name} is not there"


SOURCES = {path.name for path in files("*.rs", "*.py")}


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_sources_that_a_page_names_are_there(page: Path) -> None:
    """`subflows.rs`, `claims.py`: names of source files without a folder."""
    named = set(re.findall(r"`([\w-]+\.(?:rs|py))`", prose(page)))
    assert named <= SOURCES, f"not there: {named - SOURCES}"


def commands(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Give the name and the other words of each command of linkpool that a page shows."""
    text = page.read_text(encoding="utf-8")
    blocks = "".join(re.findall(r"^```sh\n(.*?)^```", text, flags=re.M | re.S))
    shown = re.findall(r"^(?:linkpool|\./x) ([a-z].*)$", blocks, flags=re.M)
    shown += re.findall(r"`(?:linkpool|\./x) ([a-z][^`]*)`", text)
    for line in shown:
        name, *rest = re.sub(r"'[^']*'", "", line).split()
        yield name, rest


@pytest.mark.core
@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_commands_that_a_page_shows_exist(page: Path) -> None:
    from linkpool.cli.commands import app
    from linkpool.cli.group import loaded

    known = loaded(app)
    script = (ROOT / "x").read_text(encoding="utf-8")
    for first, rest in commands(page):
        name = f"{first} {rest[0]}" if rest and f"{first} {rest[0]}" in known else first
        options = [word for word in rest if re.fullmatch(r"--[a-z][a-z-]*", word)]
        if name not in known:
            assert re.search(rf"^ *(\w+ \| )*{name}( \| \w+)*\)", script, flags=re.M), name
            continue
        allowed = {option for param in known[name].params for option in param.opts} | {"--help"}
        assert set(options) <= allowed, f"{name}: {set(options) - allowed}"


INPUT = r"(?<!\S)([\w./-]+\.(?:toml|csv|graphml|goal|bin|json|topo|cm))\b"
WRITES = {"convert": 1, "new": 1}
"""How many of the files of a command, the last ones, it writes."""


def inputs(page: Path) -> Iterator[str]:
    """Give the files that the commands of a page read, whatever kind of block they stand in."""
    text = page.read_text(encoding="utf-8")
    written: set[str] = set()
    for block in re.findall(r"^```(?:sh|console|)\n(.*?)^```", text, flags=re.M | re.S):
        shown = re.findall(r"^(?:sudo )?(?:\S*/)?linkpool(?:-linux)? ([a-z].*)$", block, flags=re.M)
        for name, line in (line.split(" ", 1) for line in shown if " " in line):
            read, made = (
                re.sub(r"(?:--\S+|[>|]) \S+", "", line),
                re.findall(rf"--out {INPUT}", line),
            )
            named = re.findall(INPUT, read)
            last = len(named) - WRITES.get(name, 0)
            yield from (file for file in named[:last] if file not in written)
            written |= {*named[last:], *made}


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_files_that_commands_read_are_there(page: Path) -> None:
    """They are in the repository, the page links to them, or it tells the reader to write them."""
    text = page.read_text(encoding="utf-8")
    for file in inputs(page):
        there = any((folder / file).is_file() for folder in (ROOT, page.parent))
        linked = [
            page.parent / to for to in re.findall(rf"\]\(([\w./-]*{re.escape(file)})\)", text)
        ]
        given = f"Write this to `{file}`" in text or "/KEY/" in file
        assert there or given or any(map(Path.is_file, linked)), f"{file} is not there"


def dependencies(manifest: dict[str, Any]) -> Iterator[str]:
    yield from manifest.get("dependencies", {})
    yield from manifest.get("dev-dependencies", {})
    for target in manifest.get("target", {}).values():
        yield from dependencies(target)


FOR_THEIR_FEATURES = {("python", "libc"), ("python", "num-traits")}
"""Dependencies that only turn features on: the manifest says why."""


@pytest.mark.parametrize("crate", CRATES, ids=[path.parent.name for path in CRATES])
def test_every_dependency_of_a_crate_is_used(crate: Path) -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in crate.parent.rglob("*.rs"))
    named = dependencies(tomllib.loads(crate.read_text(encoding="utf-8")))
    for name in (n for n in named if (crate.parent.name, n) not in FOR_THEIR_FEATURES):
        assert re.search(rf"\b{name.replace('-', '_')}\b", code), f"{name} is not used"


def test_every_dependency_of_the_package_is_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files("python/*.py"))
    for requirement in project["dependencies"]:
        name = re.split(r"[<>=;! ]", requirement, maxsplit=1)[0].replace("-", "_")
        assert re.search(rf"^\s*(import|from) {name}\b", code, flags=re.M), f"{name} is not used"


@pytest.mark.parametrize(("pattern", "marks"), [("*.rs", ("//",)), ("*.py", ('"""', "#"))])
def test_each_file_begins_with_what_it_is_for(pattern: str, marks: tuple[str, ...]) -> None:
    written = [path for path in files(pattern) if path.stat().st_size > 0]
    silent = [path for path in written if not path.read_text(encoding="utf-8").startswith(marks)]
    assert names(silent) == []


def test_links_of_the_readme_hold_in_a_package(tmp_path: Path) -> None:
    """`.ci/package-readme` gives each link and figure an address of a file that is there."""
    (tmp_path / ".ci").mkdir()
    for name in ("README.md", ".ci/package-readme"):
        shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run([tmp_path / ".ci/package-readme", "v0.1.0"], check=True)
    before = re.findall(r"\]\(([^)\s]+)\)", prose(ROOT / "README.md"))
    after = re.findall(r"\]\(([^)\s]+)\)", prose(tmp_path / "README.md"))
    assert len(before) == len(after) > 15
    for old, new in zip(before, after, strict=True):
        if old.startswith("https:"):
            assert new == old
            continue
        file = new.removeprefix("https://github.com/linkpool/linkpool/")
        kind, ref, path = file.split("/", 2)
        assert (kind, ref, path) == (
            "raw" if path.endswith((".svg", ".png")) else "blob",
            "v0.1.0",
            old,
        )

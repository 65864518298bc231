"""The commands of the README and of the documentation run, page by page, each in a new folder.

A page is read from top to bottom, as a user reads it: what it tells the reader to write is written,
and each command that it shows is given, in the folder to which the commands before it have gone.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import pytest

from linkpool.cli.commands import app as commands_of_linkpool
from linkpool.cli.group import loaded
from test_cli import call
from test_repository import ROOT, files

pytestmark = pytest.mark.core

DATED = "docs/reports/"
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in files("README.md", "docs/*.md")
    if not str(path.relative_to(ROOT)).startswith(DATED)
}

IN_FOLDER = "docs/topologies/"
"""The commands of these pages are given in their folder, as its README says."""

LONG = [
    ("README.md", "./x reproduce A-fig8", "a published figure: 640 runs"),
    ("README.md", "./x study run which.toml", "15 runs, some with timeouts: 27 s"),
    ("docs/estimate.md", "linkpool estimate *", "5 runs: 2 s, without optimisation 30 s"),
    ("docs/failures.md", "linkpool *", "105 runs: minutes"),
    ("docs/gallery/README.md", "linkpool study run s[we]*", "27 and 45 runs: 38 s"),
    ("docs/gallery/README.md", "linkpool plot results/s[we]* *", "needs the study before"),
    ("docs/iterations.md", "linkpool study run iter*", "25 runs with 128 hosts: minutes"),
    ("docs/jobs.md", "linkpool *", "20 runs: minutes"),
    ("docs/jobs.md", "python *", "tests/test_cookbook.py runs it at an eighth of its size"),
    ("docs/report.md", "linkpool report results/amp results/dctcp *", "as the one before"),
    ("docs/report.md", "linkpool study run *", "25 runs: 10 s"),
    ("docs/report.md", "linkpool report results/transports *", "needs the study before"),
    ("docs/study.md", "linkpool study run *.toml", "25 runs: 10 s"),
    ("docs/tutorial.md", "linkpool study run *.toml", "25 runs: 10 s"),
    ("docs/tutorial.md", "linkpool explain results/transports *", "needs the study before"),
]
"""Commands that the long tests run: the page, the command, why it takes long."""

NOT_RUN = [
    ("*", "git clone *", "needs the network"),
    ("*", "cd linkpool", "where the clone is"),
    ("*", "./x setup", "builds"),
    ("docs/tutorial.md", ". .venv/bin/activate", "of what was built"),
    ("*", "./x test*", "is what runs this test"),
    ("*", "./x mutants *", "builds and tests for hours"),
    ("*", "./x coverage", "builds and tests for 15 minutes"),
    ("*", "./x count*", "builds, and needs valgrind"),
    ("*", "./x figures", "measures for an hour"),
    ("*", "pip install *", "needs the network"),
    ("docs/astra-sim.md", "*", "needs a checkout of ASTRA-sim, and builds"),
    ("docs/book/*", "*", "generated; tests/test_book.py reads what `--from-data` reads"),
    ("docs/c.md", "*", "builds; crates/capi runs its examples in tests of its own"),
    ("docs/cookbook.md", "*", "tests/test_cookbook.py runs them, and reads the table"),
    ("docs/equilibria/README.md", "linkpool reproduce *", "a published figure: long runs"),
    ("docs/experiments.md", "linkpool reproduce all", "takes days"),
    ("docs/experiments/*", "linkpool reproduce *", "a published figure: long runs"),
    ("docs/iterations.md", "* results/runs/KEY*", "the reader chooses a run"),
    ("docs/iterations.md", "tshark *", "of that run"),
    ("docs/iterations.md", "linkpool perfetto one *", "of that run"),
    ("docs/limits.md", "linkpool run --ignore-estimate", "only the option"),
    ("docs/linux.md", "*", "needs root and packages, and changes the kernel's settings"),
    ("docs/new-algorithm.md", "linkpool run *", "needs the algorithm of the page, compiled"),
    ("docs/packetdrill.md", "*", "builds, and needs packetdrill"),
    ("docs/workloads/session.md", "python *", "tests/test_cookbook.py plays the trace"),
    ("docs/performance.md", "linkpool bench * --beside *", "needs another simulator"),
    ("docs/performance.md", "linkpool bench --[js]*", "measures for minutes"),
    ("docs/serve.md", "python *", "tests/test_serve.py runs it, and reads what it prints"),
    ("docs/serve.md", "linkpool serve *", "answers another program; tests/test_serve.py is one"),
    ("docs/study.md", "dask *", "starts a cluster; tests/test_remote.py has one"),
    ("docs/study.md", "linkpool * --on *", "needs that cluster"),
    ("docs/study.md", "linkpool run --set*", "only the option"),
    ("docs/testbed.md", "*", "needs root, and builds; linkpool compares what that gives"),
]
"""Commands that no test here runs: the pages, the command, why; `*` stands for anything."""

REFUSED = {
    ("docs/tutorial.md", "linkpool run incast.toml --out results/bad --set queue.limits=50"): (
        "incast.toml: queue.limits: unknown key `limits`; did you mean `limit`?"
    ),
}
"""Commands that show an error: how what they say begins, which the page has."""


@dataclass(frozen=True)
class Given:
    """What a page tells the reader to write into a file."""

    file: str
    text: str


BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.M | re.S)
INLINE = re.compile(r"`((?:linkpool|\./x) [a-z][^`]*)`")
PLACEHOLDER = re.compile(r"\b[A-Z]+\b(?!-)|\.\.\.")
"""Words such as FILE, which a reader replaces; A-fig8 is none."""


def steps(text: str) -> Iterator[Given | str]:
    """Give what a page tells the reader to do, in its order."""
    at = 0
    for block in BLOCK.finditer(text):
        before = text[at : block.start()]
        yield from complete(before)
        language, content = block.groups()
        if language in ("sh", "console"):
            for line in content.replace("\\\n", " ").splitlines():
                yield from filter(None, map(bare, re.split(r" && ", line)))
        elif named := re.search(r"Write this to `([\w./-]+)`[^`]*\Z", before):
            yield Given(named[1], content)
        elif named := re.match(r"# ([\w-]+\.toml): ", content):
            yield Given(named[1], content)
            yield from complete(content.splitlines()[0])
        at = block.end()
    yield from complete(text[at:])


def bare(line: str) -> str:
    """Return a line of a block without what it says of itself."""
    return re.sub(r"\s+# .*|^#.*", "", line).strip()


def complete(prose: str) -> Iterator[str]:
    """Give the commands in a text that a reader can give as they stand: more than a name."""
    for command in INLINE.findall(prose):
        words = command.split()
        if not PLACEHOLDER.search(command) and (
            words[0] == "./x" or " ".join(words[1:]) not in NAMES
        ):
            yield " ".join(words)


NAMES = set(loaded(commands_of_linkpool))


def commands(page: str) -> list[str]:
    return [step for step in steps(PAGES[page]) if isinstance(step, str)]


Listed: TypeAlias = "list[tuple[str, str, str]]"


def is_in(these: Listed, page: str, command: str) -> bool:
    return any(fnmatchcase(page, where) and fnmatchcase(command, what) for where, what, _ in these)


def has_some(page: str, besides: Listed) -> bool:
    """Tell whether a page has a command that runs anything, besides some."""
    return any(
        not is_in(besides, page, command) and not command.startswith("cd ")
        for command in commands(page)
    )


@pytest.mark.parametrize("page", [page for page in PAGES if has_some(page, [*NOT_RUN, *LONG])])
def test_the_commands_of_a_page_run(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    give(page, [*NOT_RUN, *LONG], tmp_path, monkeypatch, capsys)


@pytest.mark.long
@pytest.mark.parametrize("page", sorted({page for page, _, _ in LONG}))
def test_the_long_commands_of_a_page_run(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    give(page, NOT_RUN, tmp_path, monkeypatch, capsys)


def give(
    page: str,
    left_out: Listed,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Do what a page says, but for some commands."""
    copy(folder)
    monkeypatch.chdir(folder / IN_FOLDER if page.startswith(IN_FOLDER) else folder)
    for step in steps(PAGES[page]):
        if isinstance(step, Given):
            Path(step.file).write_text(step.text, encoding="utf-8")
        elif not is_in(left_out, page, step):
            program, *words = shlex.split(step)
            if program == "cd":
                monkeypatch.chdir(*words)
            elif program in ("linkpool", "./x"):
                capsys.readouterr()
                code = call(monkeypatch, *words)
                said = capsys.readouterr()
                refused = REFUSED.get((page, step))
                assert code == (2 if refused else 0), f"{step}\n{said.out}{said.err}"
                assert refused is None or (said.err.startswith(refused) and refused in PAGES[page])
            else:
                assert program == "tshark", f"{step}: what is {program}?"
                if found := shutil.which(program):
                    subprocess.run([found, *words], check=True, capture_output=True)


DATA = {
    path for path in files("docs") if path.suffix not in {".md", ".png", ".svg", ".ipynb", ".css"}
}


def copy(to: Path) -> None:
    """Put what commands read into a folder: they write beside it."""
    for path in DATA:
        target = to / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(path)


def test_commands_are_in_blocks_that_are_run() -> None:
    """A command in a block of another kind would not be seen."""
    for page, text in PAGES.items():
        for language, content in BLOCK.findall(text):
            shown = re.findall(
                r"^(?:\$ )?(?:sudo )?(?:linkpool|\./x) [a-z].*$", content, flags=re.M
            )
            assert language in ("sh", "console") or shown == [], page


def test_what_is_not_run_is_shown_somewhere() -> None:
    every = [(page, command) for page in PAGES for command in commands(page)]
    for one in [*LONG, *NOT_RUN]:
        assert any(is_in([one], *shown) for shown in every), f"no page shows {one}"
    assert REFUSED.keys() <= set(every)
    assert len(every) > 150

"""`linkpool linux` passes its arguments on to a program of its own."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path


def linkpool(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "linkpool.entry", "linux", *arguments]
    environment = {**os.environ, "PATH": str(path)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_arguments_and_exit_code_are_the_program_s(tmp_path: Path) -> None:
    program = tmp_path / "linkpool-linux"
    program.write_text('#!/bin/sh\necho "$#: $*"\nexit 3\n', encoding="utf-8")
    program.chmod(0o755)
    done = linkpool(tmp_path, "load", "amp", "--beta", "4", "--help")
    assert (done.stdout, done.returncode) == ("5: load amp --beta 4 --help\n", 3)


def test_where_it_is_not_installed_the_remedy_is_said(tmp_path: Path) -> None:
    done = linkpool(tmp_path, "check")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "cargo install --path linux/cli" in done.stderr


def test_the_guide_installs_the_package_that_is_built() -> None:
    """The first command of the guide, and the file that `linux/package/deb` writes."""
    root = Path(__file__).parent.parent
    guide = (root / "docs/linux.md").read_text(encoding="utf-8")
    first = guide.split("```sh\n", 1)[1].splitlines()[0].split()
    script = (root / "linux/package/deb").read_text(encoding="utf-8")
    written = re.search(r'"(target/linkpool-linux_\$\{version\}_\$arch\.deb)"', script)
    assert written is not None
    assert first[:2] == ["apt-get", "install"]
    package = re.sub(r"\$\{?\w+\}?", "1", written[1])
    assert fnmatch.fnmatch(f"./{package}", first[2])

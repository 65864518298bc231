"""The wheel as users get it: built for older systems, installed, and run without a compiler.

What is run has no network either, where the system lets a user do without (`unshare`).
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent

MANYLINUX = "manylinux_2_28"
"""Systems with glibc 2.28 or newer: Debian 10, RHEL 8, Ubuntu 18.10."""

pytestmark = pytest.mark.core


def call(*words: object, path: str, cwd: Path) -> str:
    """Run a program, which finds others in `path` only, and return what it printed."""
    left_out = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "CARGO_HOME", "RUSTUP_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def offline() -> list[str]:
    """Return what gives a command no network but its own; nothing where that is not allowed."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    words = [unshare, "--map-root-user", "--net"]
    allowed = subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0
    return words if allowed else []


def use(*words: object, place: Path) -> str:
    """Run a program of the environment at `place`: it finds no other program, and no network."""
    programs = place / "venv" / "bin"
    first, *rest = words
    return call(*offline(), programs / str(first), *rest, path=str(programs), cwd=place)


def built(profile: str, *options: str, out: Path) -> Path:
    """Build a wheel with a profile of Cargo into `out` and return it."""
    build = [str(BIN / "maturin"), "build", "--locked", "--profile", profile, "--out", str(out)]
    path = f"{BIN}:{os.environ['PATH']}"
    subprocess.run([*build, *options], cwd=ROOT, check=True, env={**os.environ, "PATH": path})
    (wheel,) = out.glob("*.whl")
    return wheel


def install(wheel: Path, place: Path) -> None:
    """Install `wheel` and what it needs into an environment of its own, which has no Rust."""
    home = place / "venv"
    venv.create(home, with_pip=True)
    programs = home / "bin"
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    call(*pip, wheel, path=str(programs), cwd=place)


def install_beside(wheel: Path, place: Path) -> None:
    """Install `wheel` alone, and let it find what it needs where these tests find that."""
    home = place / "venv"
    venv.create(home)
    (site,) = home.glob("lib/python*/site-packages")
    into = ["install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", "--prefix", home]
    subprocess.run([sys.executable, "-m", "pip", *map(str, into), str(wheel)], check=True)
    # Behind its own folder: what is installed there comes first, linkpool too.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")


def try_out(place: Path) -> None:
    """Use the wheel that is installed."""
    where = use("python", "-c", "import linkpool; print(linkpool.__file__)", place=place)
    assert where.startswith(str(place)), "not that of the source tree"
    scenario = ROOT / "docs" / "workloads" / "incast.toml"
    use("linkpool", "run", scenario, "--out", "result", place=place)
    use("linkpool", "report", "result", "--out", "page.html", "--trace", "1", place=place)
    said = use("linkpool", "explain", "result", "--flow", "0", place=place)
    assert "Where the time went" in said
    assert (place / "page.html").stat().st_size > 100_000


def test_a_wheel_for_this_system_runs_where_there_is_no_rust(tmp_path: Path) -> None:
    # What `./x` has compiled serves, as the profile is the same.
    wheel = built("dev", "--compatibility", "linux", out=tmp_path)
    assert re.fullmatch(r"linkpool-[\d.]+-cp310-abi3-linux_\w+\.whl", wheel.name)
    install_beside(wheel, tmp_path)
    try_out(tmp_path)


@pytest.mark.long
def test_the_wheel_for_older_systems_runs_where_there_is_no_rust(tmp_path: Path) -> None:
    # zig links against an older glibc than this system's. It comes from PyPI (the extra `wheel`).
    wheel = built("quick", "--zig", "--compatibility", MANYLINUX, out=tmp_path)
    name = rf"linkpool-[\d.]+-cp310-abi3-{MANYLINUX}_{platform.machine()}\.whl"
    assert re.fullmatch(name, wheel.name)
    install(wheel, tmp_path)
    try_out(tmp_path)
    reproduce(tmp_path)


def reproduce(place: Path) -> None:
    """Reproduce a published figure with the wheel that is installed, and judge its claims."""
    use("linkpool", "reproduce", "A-fig2", place=place)
    (found,) = (place / "results").glob("**/A-fig2")
    names = {file.name for file in found.iterdir()}
    assert {"claims.json", "record.json"} <= names
    assert any(name.endswith((".png", ".svg", ".pdf")) for name in names)

"""Programs of `crates/sim/examples`, which benchmarks run."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def build(name: str) -> Path:
    """Build the example `name` as a release, and return where it is."""
    cargo = ["cargo", "build", "--release", "--quiet", "-p", "linkpool-sim", "--example", name]
    subprocess.run(cargo, cwd=ROOT, check=True)
    # cargo says where it builds, which need not be ./target.
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    done = subprocess.run(metadata, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return Path(json.loads(done.stdout)["target_directory"]) / "release/examples" / name

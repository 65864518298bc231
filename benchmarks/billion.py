"""Run 10^9 packet-hops with every flow recorded, and show that memory stays bounded.

    .venv/bin/python benchmarks/billion.py            the whole: a few minutes on one core
    .venv/bin/python benchmarks/billion.py 0.1s       a shorter one, to see memory not grow

Prints JSON: what the run took, the rows of its tables, and the peak of resident memory.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path

import polars as pl

from linkpool import _core

SCENARIO = Path(__file__).with_name("billion.toml")
KIB = 1024


def main() -> None:
    """Run and report."""
    settings = [("duration", sys.argv[1])] if len(sys.argv) > 1 else []
    with tempfile.TemporaryDirectory() as place:
        text = SCENARIO.read_text(encoding="utf-8")
        info = _core.load(text, str(SCENARIO), None, settings).run(place)
        # Before the tables are read: what the simulation needed.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
        tables = sorted(Path(place).glob("*.parquet"))
        rows = {t.stem: pl.scan_parquet(t).select(pl.len()).collect().item() for t in tables}
        size = sum(t.stat().st_size for t in tables)
    print(
        json.dumps({**info, "rows": rows, "bytes_written": size, "peak_rss_bytes": peak}, indent=1)
    )


if __name__ == "__main__":
    main()

"""The training job of gpus.toml from a trace, and by a program outside, to compare the results.

`python gpus.py OUT [ARM ...]` runs both for each arm of the study, with its first seed.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from ranks import play

import linkpool

COLUMNS = ["label", "src", "dst", "size_bytes", "start_s", "delivered_s", "end_s"]


def scenario(base: dict[str, Any], arm: linkpool.Arm, job: dict[str, Any]) -> linkpool.Scenario:
    """Return the scenario of an arm with `job` in place of its training job."""
    others = {kind: jobs for kind, jobs in base["workload"].items() if kind != "training"}
    return linkpool.Scenario.of({**base, "workload": {**others, **job}}).set(arm.settings())


def run_both(base: dict[str, Any], arm: linkpool.Arm, out: Path) -> list[linkpool.Result]:
    """Run the job of an arm from a trace, then by a program outside."""
    [training] = base["workload"]["training"]
    out.mkdir(parents=True)
    whole, trace = out / "whole.toml", out / "train.goal"
    whole.write_text(scenario(base, arm, {"training": [training]}).check(), encoding="utf-8")
    convert = [sys.executable, "-m", "linkpool", "convert", whole, trace]
    subprocess.run(convert, check=True, stdout=subprocess.DEVNULL)

    job = {key: training[key] for key in ("transport", "label")}
    program = {"file": str(trace.absolute()), "format": "goal", "calc_unit": "1ps"}
    program |= {key: training[key] for key in ("placement", "iterations")}
    inside = scenario(base, arm, {"program": [job | program]})
    inside.run(out=out / "inside", seed=1)

    # One rank on each leaf, then the next on each: what placement = "spread" means.
    fabric = base["topology"]["multi-plane"]
    leaves, hosts_per_leaf = fabric["leaves"], fabric["hosts_per_leaf"]
    ranks = range(training["pp"] * training["dp"])
    hosts = [hosts_per_leaf * (rank % leaves) + rank // leaves for rank in ranks]
    outside = scenario(base, arm, {"session": [job]})
    play(outside, trace, hosts, training["iterations"], out=out / "outside", seed=1)
    return [linkpool.Result(out / "inside"), linkpool.Result(out / "outside")]


if __name__ == "__main__":
    study = linkpool.Study.load(Path(__file__).with_name("gpus.toml"))
    for arm in study.arms:
        if len(sys.argv) > 2 and arm.name not in sys.argv[2:]:
            continue
        results = run_both(study.base, arm, Path(sys.argv[1]) / arm.name)
        messages = [result.flows.select(COLUMNS).sort(COLUMNS) for result in results]
        for which, result, flows in zip(("trace", "outside"), results, messages, strict=True):
            train = flows.filter(flows["label"] == "train")
            ttft = result.requests["ttft_s"].quantile(0.99, "linear")
            print(
                f"{arm.name}, {which}: {flows.height:,} messages, the job's last acknowledged at "
                f"{train['end_s'].max() * 1e3:.6f} ms, TTFT p99 {ttft * 1e3:.6f} ms"
            )
        print("equal" if messages[0].equals(messages[1]) else "NOT EQUAL")

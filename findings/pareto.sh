#!/bin/sh
# numpy's pareto(a) is not the Pareto distribution that scipy's pareto and Python's paretovariate are.
#
# Seen: with shape 3, numpy 2.4.6 draws from 0 with the mean 0.5 (the Lomax distribution); scipy
# 1.17.1's pareto and random.paretovariate draw from 1 with the mean 1.5.
#
# Why it matters: flow sizes are drawn by 'Pareto, shape 1.05'. With numpy two thirds of the load
# are missing at shape 3, flows may have nearly 0 bytes, and the same shape in two scripts is two
# workloads. numpy's is (1 + x) m for the least size m.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    numpy==2.4.6 scipy==1.17.1
cd "$dir"
venv/bin/python - <<'END'
import random, numpy, scipy.stats
n, shape = 400_000, 3
random.seed(1)
seen = {
    "numpy": numpy.random.default_rng(1).pareto(shape, n),
    "scipy": scipy.stats.pareto.rvs(shape, size=n, random_state=1),
    "random": numpy.array([random.paretovariate(shape) for _ in range(n)]),
}
for name, drawn in seen.items():
    print(f"{name:8} least {drawn.min():.5f} mean {drawn.mean():.3f}")
assert seen["numpy"].min() < 1e-4 and abs(seen["numpy"].mean() - 0.5) < 0.01
for name in ("scipy", "random"):
    assert seen[name].min() >= 1 and abs(seen[name].mean() - 1.5) < 0.01
END
echo 'pareto: as described'

#!/bin/sh
# An Optuna study of ten trials with TPE is a random search, and later trials repeat earlier ones.
#
# Seen: Optuna 5.0.0: the first ten trials of TPESampler(seed=1) are those of
# RandomSampler(seed=1), as n_startup_trials is 10. Of 80 trials over a space of 80 points (K of 1
# to 10, 1 to 8 subflows), at most 50 are distinct.
#
# Why it matters: a trial of a packet simulation takes minutes, so searches are short. 'We tuned K
# with TPE, ten trials' says random search; and with integer settings a third of the time goes to
# points that were run before, unless results are kept by their settings.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check \
    optuna==5.0.0
cd "$dir"
venv/bin/python - <<'END'
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
def score(trial):
    return (trial.suggest_int("K", 1, 10) - 3) ** 2 + (trial.suggest_int("subflows", 1, 8) - 4) ** 2
def trials(sampler, count):
    study = optuna.create_study(sampler=sampler)
    study.optimize(score, n_trials=count)
    return [tuple(trial.params.values()) for trial in study.trials]
searched, drawn = trials(optuna.samplers.TPESampler(seed=1), 80), trials(optuna.samplers.RandomSampler(seed=1), 80)
same = next(i for i in range(80) if searched[i] != drawn[i])
print(f"the first {same} trials are random; {len(set(searched))} of 80 are distinct")
assert same == 10
assert len(set(searched)) <= 50
END
echo 'ten-trials: as described'

"""Experiments of users whose code is wrong: what is said of them, and when."""

import re
from pathlib import Path

import pytest

from linkpool.study.own import OwnCodeError
from linkpool.study.registry import Registry
from linkpool.study.reproduce import reproduce_experiment

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "experiments" / "your-own.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
COLUMNS = "the columns of its data are mark, seed, fct_s"


def reproduce(folder: Path, right: str, wrong: str) -> None:
    assert CODE.count(right) == 1
    (folder / "mine.py").write_text(CODE.replace(right, wrong), encoding="utf-8")
    found = Registry()
    found.add_folder(folder)
    reproduce_experiment(found.load("Mine-marks"), folder / "out", seeds=1, jobs=1)


@pytest.mark.core
def test_a_column_that_claims_ask_for_is_missed_before_any_run(tmp_path: Path) -> None:
    line = CODE[: CODE.index('data["fct_s"].max()')].count("\n") + 1
    with pytest.raises(OwnCodeError) as caught:
        reproduce(tmp_path, 'data["fct_s"].max()', 'data["fct"].max()')
    what = 'the claims of Mine-marks: ColumnNotFoundError: "fct" not found'
    assert str(caught.value) == f"{tmp_path / 'mine.py'}:{line}: {what}; {COLUMNS}"
    assert not (tmp_path / "out").exists()


@pytest.mark.core
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('data["fct_s"].max()', "1 / (1 - bool(data.height))", "claims of Mine-marks: ZeroDiv"),
        ('1e3 * found["fct_s"]', 'found["ms"]', "figure of Mine-marks: ColumnNotFoundError"),
    ],
)
def test_what_fails_on_data_is_told_with_its_line(
    right: str, wrong: str, said: str, tmp_path: Path
) -> None:
    line = CODE[: CODE.index(right)].count("\n") + 1
    with pytest.raises(OwnCodeError, match=said) as caught:
        reproduce(tmp_path, right, wrong)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.py'}:{line}: the ")
    assert str(caught.value).endswith(COLUMNS)

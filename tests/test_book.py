"""The book of results: its pages are what its data gives, and nothing is left out."""

import json
import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from fake_core import FakeCore
from linkpool.book import condense, entry, menu, pages
from linkpool.book.condense import LIMIT, TooMuchDataError, condensed
from linkpool.book.entry import BookError, Entry
from linkpool.experiments import EXPERIMENTS, all_experiments, published
from linkpool.experiments.papers import FAULTS, PAPERS
from linkpool.manifest import Manifest, verify
from linkpool.publish import seal
from linkpool.study.claims import Claim, Verdict
from linkpool.study.judge import judge
from linkpool.study.reproduce import reproduce_experiment

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "docs" / "book"
IDS = sorted(path.stem for path in BOOK.glob("*.json") if path.name != "manifest.json")
SMALL = "N-inout"


@cache
def of_the_book(name: str) -> Entry:
    """Return what the book has of an experiment; to judge its claims takes seconds."""
    return entry.read(published().load(name), BOOK)


def test_the_book_is_as_it_was_written() -> None:
    verify(BOOK)
    assert set(IDS) <= EXPERIMENTS.keys()


@pytest.mark.parametrize("name", IDS)
def test_a_page_is_what_the_data_gives(name: str) -> None:
    """To write the pages again: linkpool book."""
    one = of_the_book(name)
    page = pages.page(one, pages.section_of(one.experiment, BOOK))
    assert (BOOK / f"{name}.md").read_text(encoding="utf-8") == page
    assert (BOOK / f"{name}.parquet").stat().st_size <= LIMIT


def test_the_index_is_what_the_data_gives_and_names_every_experiment() -> None:
    known = published()
    found = [of_the_book(name) for name in known if name in IDS]
    index = (BOOK / "README.md").read_text(encoding="utf-8")
    assert index == pages.index(known, found)
    for name in EXPERIMENTS:
        assert f"| [{name}]({name}.md) |" in index or re.search(
            rf"\| {name} \|.*not run at this version", index
        )


def test_the_index_counts_each_published_number_by_default_settings_too() -> None:
    def claim(name: str, verdict: Verdict) -> Claim:
        return Claim(name, "", "", "", verdict, "")

    usual = [claim("M-tab1.fct-mptcp", Verdict.NOT), claim("X-tab1.jobs", Verdict.REPRODUCED)]
    again = [
        claim(name, Verdict.REPRODUCED)
        for name in ("M-tab1.fct-mptcp-faults", "A-faults.amp-unharmed@2us", "X-recovery.between")
    ]
    line = "\n".join(pages._by_default([*again, *usual]))
    assert line.startswith("**With the default settings of the transports alone: 1 of 2 claims")
    assert pages._by_default(usual) == []


def test_what_the_index_leaves_out_is_there() -> None:
    assert {i for i, declared in EXPERIMENTS.items() if declared.again} == {
        "A-faults",
        "X-recovery",
    }
    claims = [claim for name in ("M-tab1", "M-tab7") for claim in of_the_book(name).claims]
    assert sum(FAULTS in claim.id for claim in claims) == 27


def test_a_figure_is_what_the_data_gives() -> None:
    """Of one experiment, as drawing takes seconds; other libraries may draw other pixels."""
    one = of_the_book(SMALL)
    drawn = entry.draw(one)
    assert drawn.startswith(b"\x89PNG")
    assert len(drawn) == pytest.approx((BOOK / f"{SMALL}.png").stat().st_size, rel=0.1)


def test_every_experiment_has_its_published_figure_in_words() -> None:
    assert all(declared.figure for declared in EXPERIMENTS.values())
    assert {pages.paper_of(experiment) for experiment in all_experiments()} == PAPERS.keys()


def test_what_does_not_reproduce_is_discussed() -> None:
    """Of a published experiment: what was measured stands below the table of its claims."""
    known = published()
    tally = re.compile(r"\*\*(\d+) of (\d+) claims reproduced")
    seen = 0
    for name in IDS:
        experiment = known.load(name)
        found = tally.search((BOOK / f"{name}.md").read_text(encoding="utf-8"))
        assert (found is None) == (pages.words_of(experiment) is pages.OF_QUESTIONS), name
        if found is not None and found[1] != found[2]:
            seen += 1
            _, findings = pages.section_of(experiment, BOOK)
            assert "**Measured**" in findings, f"docs/experiments: {name} says no findings"
    assert seen


def test_a_reproduction_becomes_a_page(fake_core: FakeCore, tmp_path: Path) -> None:
    known, book = published(), tmp_path / "book"
    experiment = known.load(SMALL)
    reproduce_experiment(experiment, tmp_path / "results", seeds=2, jobs=1)
    assert entry.put(experiment, tmp_path / "results" / SMALL, book)
    assert [path.name for path in pages.write(known, book)] == [f"{SMALL}.md"]
    verify(book)
    text = (book / f"{SMALL}.md").read_text(encoding="utf-8")
    assert "Not a full reproduction" in text
    for claim in entry.read(experiment, book).claims:
        assert claim.id.partition(".")[2] in text
    assert "not run at this version" in (book / "README.md").read_text(encoding="utf-8")


def test_a_shortened_reproduction_replaces_no_full_one(fake_core: FakeCore, tmp_path: Path) -> None:
    known, book = published(), tmp_path / "book"
    experiment = known.load(SMALL)
    reproduce_experiment(experiment, tmp_path / "full", jobs=1)
    reproduce_experiment(experiment, tmp_path / "short", seeds=1, jobs=1)
    assert entry.put(experiment, tmp_path / "short" / SMALL, book)
    assert entry.put(experiment, tmp_path / "full" / SMALL, book)
    assert not entry.put(experiment, tmp_path / "short" / SMALL, book)
    assert entry.read_unsealed(experiment, book).is_full


def test_an_experiment_is_judged_as_it_was_run(fake_core: FakeCore, tmp_path: Path) -> None:
    known, book = published(), tmp_path / "book"
    experiment = known.load("N-perm")
    reproduce_experiment(experiment, tmp_path, scale=0.5, jobs=1)
    assert entry.put(experiment, tmp_path / "N-perm", book)
    one = entry.read_unsealed(experiment, book)
    assert one.experiment.extent() != experiment.extent()
    assert one.cut
    assert not one.is_full


def test_measured_values_are_those_of_the_complete_data(
    fake_core: FakeCore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of condensed data; a claim that is judged in another way since then has only that data."""
    known, book = published(), tmp_path / "book"
    experiment = known.load("M-tab1")
    reproduce_experiment(experiment, tmp_path, seeds=2, jobs=1)
    data = pl.read_parquet(tmp_path / "M-tab1" / "data.parquet")
    monkeypatch.setattr(condense, "LIMIT", len(condense._parquet(data)) - 1)
    assert entry.put(experiment, tmp_path / "M-tab1", book)
    one = entry.read_unsealed(experiment, book)
    as_run = entry.run_of(experiment, one.record)
    assert one.form != condense.AS_MEASURED
    assert one.claims == judge(as_run, data)
    assert "those of the complete data." in " ".join(pages.page(one, ("", "")).split())
    file = book / "M-tab1.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    first, second = content["claims"][:2]
    first["measured"], second["measured"], second["note"] = "from all", "from all", "stricter"
    file.write_text(json.dumps(content), encoding="utf-8")
    one = entry.read_unsealed(experiment, book)
    assert one.claims[0].measured == "from all"
    assert one.claims[1] == judge(as_run, one.data)[1]
    assert one.by_condensed == (second["id"],)
    name = second["id"].partition(".")[2]
    assert f"after the runs: `{name}`." in " ".join(pages.page(one, ("", "")).split())
    del content["claims"]
    file.write_text(json.dumps(content), encoding="utf-8")
    page = pages.page(entry.read_unsealed(experiment, book), ("", ""))
    assert "those of this condensed data." in " ".join(page.split())


def test_changed_data_is_refused(fake_core: FakeCore, tmp_path: Path) -> None:
    known, book = published(), tmp_path / "book"
    experiment = known.load(SMALL)
    with pytest.raises(BookError, match=f"has no data of {SMALL}"):
        entry.read(experiment, book)
    reproduce_experiment(experiment, tmp_path, seeds=1, jobs=1)
    entry.put(experiment, tmp_path / SMALL, book)
    pages.write(known, book)
    data = book / f"{SMALL}.parquet"
    data.write_bytes(data.read_bytes() + b"x")
    with pytest.raises(BookError, match=rf"{SMALL}\.parquet changed"):
        entry.read(experiment, book)


def test_data_of_another_version_is_refused(fake_core: FakeCore, tmp_path: Path) -> None:
    known, place = published(), tmp_path / SMALL
    experiment = known.load(SMALL)
    reproduce_experiment(experiment, tmp_path, seeds=1, jobs=1)
    data = pl.read_parquet(place / "data.parquet")
    data.rename({"seed": "sid"}).write_parquet(place / "data.parquet")
    seal(place, "key")
    with pytest.raises(BookError, match=r"data\.parquet: of another version: column seed"):
        entry.put(experiment, place, tmp_path / "book")


def test_a_stranger_in_the_book_is_named(fake_core: FakeCore, tmp_path: Path) -> None:
    known, book = published(), tmp_path / "book"
    experiment = known.load(SMALL)
    reproduce_experiment(experiment, tmp_path, seeds=1, jobs=1)
    entry.put(experiment, tmp_path / SMALL, book)
    (book / "notes.txt").write_text("x", encoding="utf-8")
    with pytest.raises(BookError, match=r"notes\.txt is not part of the book"):
        pages.write(known, book)


def flows(count: int) -> pl.DataFrame:
    """Return completion times without any pattern, of two groups, some of which never ended."""
    values = pl.Series([(i * 2654435761 % 2**32) / 2**32 for i in range(count)])
    fct = values.scatter(range(0, count, 7), None)
    return pl.DataFrame({"scheme": ["a", "b"] * (count // 2), "fct_s": fct})


def test_small_data_stays_as_it_was_measured() -> None:
    data = flows(100)
    content, form = condensed(data, lambda _: True)
    assert form == "as measured"
    assert pl.read_parquet(content).equals(data)


@pytest.fixture
def a_fifth_of_the_room(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the book take less, so that less data is too much for it."""
    limit = LIMIT // 5
    monkeypatch.setattr(condense, "LIMIT", limit)
    return limit


def test_large_data_keeps_its_rows_and_the_means_of_groups(a_fifth_of_the_room: int) -> None:
    data = flows(40_000)
    content, form = condensed(data, lambda _: True)
    assert len(content) <= a_fifth_of_the_room
    assert "means of neighbours" in form
    coarse = pl.read_parquet(content)
    assert coarse.schema == data.schema
    for scheme in ("a", "b"):
        before, after = (d.filter(pl.col("scheme") == scheme)["fct_s"] for d in (data, coarse))
        assert after.null_count() == before.null_count()
        assert after.mean() == pytest.approx(before.mean(), rel=1e-4)
        assert after.quantile(0.9) == pytest.approx(before.quantile(0.9), rel=1e-2)


def test_high_percentiles_of_coarse_data_stay() -> None:
    data = flows(20_000).with_columns((1 / (1 - pl.col("fct_s"))).alias("fct_s"))  # Pareto, 1
    content, form = condensed(data, lambda coarse: coarse["fct_s"].n_unique() < 300)
    assert "128 at most" in form
    coarse = pl.read_parquet(content)
    for q in (0.5, 0.9, 0.99, 0.999):
        before, after = (d["fct_s"].quantile(q, "linear") for d in (data, coarse))
        assert after == pytest.approx(before, rel=0.1), q


@pytest.mark.usefixtures("a_fifth_of_the_room")
def test_values_after_a_jump_are_not_averaged_with_those_before_it() -> None:
    """Flows of 0.1 to 0.2 s, of which 2% wait 3 s more for the timeout of a SYN."""
    fct = pl.col("fct_s").fill_null(0.5) * 0.1 + 0.1
    late = pl.when(pl.int_range(pl.len()) % 50 < 1).then(3.0).otherwise(0.0)
    data = flows(40_000).with_columns((fct + late).alias("fct_s"))
    content, _ = condensed(data, lambda coarse: coarse["fct_s"].n_unique() < 50)
    coarse = pl.read_parquet(content)
    assert coarse["fct_s"].std() == pytest.approx(data["fct_s"].std(), rel=1e-3)
    assert coarse.filter(pl.col("fct_s") > 3).height == 800
    assert coarse.filter(pl.col("fct_s").is_between(0.2001, 3)).is_empty()


def test_numbers_get_three_digits_before_very_few_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    data = flows(20_000)
    fewest = [len(condense._parquet(form)) for form, how in condense._forms(data) if "16 at" in how]
    assert fewest[0] > fewest[1]
    monkeypatch.setattr(condense, "LIMIT", fewest[0] - 1)
    content, form = condensed(data, lambda _: True)
    assert "of 3 digits" in form
    assert "16 at" not in form  # more bins than with four digits
    values = pl.read_parquet(content)["fct_s"].drop_nulls()
    assert values.equals(values.round_sig_figs(3))


@pytest.mark.usefixtures("a_fifth_of_the_room")
def test_each_number_keeps_its_own_distribution() -> None:
    """A second number that has nothing to do with the first one."""
    other = pl.col("fct_s").fill_null(0.5).mul(7919).mod(1).alias("goodput_bps")
    data = flows(40_000).with_columns(other)
    content, form = condensed(data, lambda _: True)
    assert "sorted by itself" in form
    coarse = pl.read_parquet(content)
    for name in ("fct_s", "goodput_bps"):
        for q in (0.1, 0.5, 0.9):
            before, after = (d[name].quantile(q, "linear") for d in (data, coarse))
            assert after == pytest.approx(before, abs=0.01), (name, q)
        assert coarse[name].std() == pytest.approx(data[name].std(), rel=0.01)


@pytest.mark.usefixtures("a_fifth_of_the_room")
def test_large_counts_are_binned_and_small_ones_stay() -> None:
    count = 40_000
    data = flows(count).with_columns(
        (pl.int_range(count) * 7919 % 20_000).alias("offered"),
        (pl.int_range(count) % 5).alias("drops"),
    )
    coarse = pl.read_parquet(condensed(data, lambda _: True)[0])
    assert coarse.schema == data.schema
    for drops in range(5):
        before, after = (d.filter(pl.col("drops") == drops) for d in (data, coarse))
        assert after.height == before.height
        assert after["offered"].mean() == pytest.approx(before["offered"].mean(), rel=1e-3)


@pytest.mark.usefixtures("a_fifth_of_the_room")
def test_data_over_time_is_not_binned() -> None:
    data = flows(40_000).with_columns(pl.int_range(pl.len()).cast(pl.Float64).alias("time_s"))
    with pytest.raises(TooMuchDataError, match="40000 rows"):
        condensed(data, lambda _: True)


def test_coarse_data_with_other_verdicts_is_refused() -> None:
    with pytest.raises(TooMuchDataError, match="with the same verdicts"):
        condensed(flows(50_000), lambda _: False)


def test_the_menu_of_the_site_has_all_pages(tmp_path: Path) -> None:
    site = tmp_path / "mkdocs.yml"
    site.write_text("nav:\n  - Book:\n      - book/README.md\n  - End: end.md\n", encoding="utf-8")
    menu.update(site, [Path("A.md")])
    menu.update(site, [Path("A.md"), Path("B.md")])
    listed = site.read_text(encoding="utf-8").splitlines()
    assert listed[2:] == [
        "      - book/README.md",
        "      - book/A.md",
        "      - book/B.md",
        listed[-1],
    ]


def test_the_manifest_names_each_file() -> None:
    names = Manifest.read(BOOK).files.keys()
    assert names == {path.name for path in BOOK.iterdir()} - {"manifest.json"}
    assert json.loads((BOOK / "manifest.json").read_text(encoding="utf-8"))["files"]
    assert condense.LIMIT == 200_000

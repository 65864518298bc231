"""Write the book: a page an experiment, the index, the manifest."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from linkpool.book import entry as entries
from linkpool.book import text
from linkpool.book.condense import AS_MEASURED
from linkpool.book.entry import BookError, Entry
from linkpool.book.text import cell, count, table
from linkpool.experiments.papers import EXPERIMENTS, FAULTS, PAPERS, QUESTIONS
from linkpool.identity import digest
from linkpool.manifest import NAME as MANIFEST
from linkpool.publish import seal
from linkpool.study.claims import Claim, Verdict
from linkpool.study.experiment import Experiment
from linkpool.study.registry import Registry
from linkpool.units import show_duration

INDEX = "README.md"
KEY = "the book of results"
"""The key of the book in its manifest, before the ids of its experiments."""

LINES = 100
"""Lines of a scenario that a page shows."""

SHOWN = 12
"""Values of a setting that a page names."""


class Words(NamedTuple):
    """What pages call the parts of an experiment."""

    figure: str
    claims: str
    paper: str
    confirmed: str
    findings: str
    source: str


OF_PAPERS = Words(
    "The published figure",
    "Claims",
    "paper",
    "reproduced",
    "What was found, and what was tried",
    "From the page of the paper, whose numbers may be of earlier runs:",
)
OF_QUESTIONS = Words(
    "The question",
    "Hypotheses",
    "expected",
    "confirmed",
    "The answer",
    "From the page of questions:",
)


def words_of(experiment: Experiment) -> Words:
    """Return the words for a published experiment, or for an open question."""
    return OF_QUESTIONS if paper_of(experiment) == QUESTIONS else OF_PAPERS


def paper_of(experiment: Experiment) -> str:
    """Return the name of an experiment's paper in `docs/experiments`."""
    return type(experiment).__module__.split(".")[-2]


def write(known: Registry, book: Path, redraw: Iterable[str] = ()) -> list[Path]:
    """Write all pages and the index from the data in the book, and seal it.

    Args:
        known: the experiments.
        book: the folder.
        redraw: experiments whose figures are drawn, beside those without one.

    Returns:
        The pages, without the index.

    """
    anew = set(redraw)
    found = [known.load(name) for name in known if (book / f"{name}.json").exists()]
    entries_ = [entries.read_unsealed(experiment, book) for experiment in found]
    pages = []
    for one in entries_:
        name = one.experiment.id
        figure = book / f"{name}.png"
        if name in anew or not figure.exists():
            figure.write_bytes(entries.draw(one))
        path = book / f"{name}.md"
        path.write_text(page(one, section_of(one.experiment, book)), encoding="utf-8")
        pages.append(path)
    (book / INDEX).write_text(index(known, entries_), encoding="utf-8")
    _seal(book, entries_)
    return pages


def _seal(book: Path, found: Iterable[Entry]) -> None:
    names = [one.experiment.id for one in found]
    expected = {INDEX, MANIFEST} | {
        f"{name}.{kind}" for name in names for kind in ("parquet", "json", "png", "md")
    }
    strangers = sorted(path.name for path in book.iterdir() if path.name not in expected)
    if strangers:
        raise BookError(f"{book / strangers[0]} is not part of the book; remove it")
    seal(book, digest(KEY, *names))


def section_of(experiment: Experiment, book: Path) -> tuple[str, str]:
    """Return the setting and the findings that the page of the paper gives, as Markdown."""
    name = f"{paper_of(experiment)}.md"
    file = book.parent / "experiments" / name
    if not file.exists():
        return "", ""
    own = text.section(file.read_text(encoding="utf-8"), experiment.id)
    before, after = text.around_table(text.moved(own, name))
    return before, after


def page(one: Entry, section: tuple[str, str]) -> str:
    """Return the page of an experiment."""
    experiment, setting = one.experiment, section[0]
    paper, words = paper_of(experiment), words_of(experiment)
    lines = [
        f"# {experiment.id}: {experiment.title}",
        "",
        f"{experiment.paper}. **{text.tally(one.claims, words.claims.lower(), words.confirmed)}.**",
        "",
        *_cut(one),
        f"## {words.figure}",
        "",
        text.prose(EXPERIMENTS[experiment.id].figure),
        "",
        "## Our figure",
        "",
        f"![{experiment.id}: {cell(experiment.title)}]({experiment.id}.png)",
        "",
        text.prose(
            f"The data is [{experiment.id}.parquet]({experiment.id}.parquet): "
            f"{one.data.height:,} rows, {one.form}. `linkpool reproduce {experiment.id} "
            "--from-data` draws the figure and judges the claims from it, without a run; "
            f"`linkpool columns {experiment.id}` explains its columns. {_values_of(one)}"
        ),
        "",
        "## Settings",
        "",
        setting,
        "",
        text.prose(
            f"[The page of the paper](../experiments/{paper}.md) has the settings that its "
            "experiments share, and why they are as they are."
        ),
        "",
        *_keys(experiment),
        "",
        f"## {words.claims}",
        "",
        *_claims(one.claims, words),
        "",
        *_findings(section[1], words),
        "## The runs",
        "",
        *_record(one),
        "",
        *_scenario(experiment),
        "",
    ]
    return "\n".join(lines)


def _values_of(one: Entry) -> str:
    """Say of which data the measured values are, if the data is condensed."""
    if one.form == AS_MEASURED:
        return ""
    if not one.by_condensed:
        return "The measured values below are those of the complete data."
    if len(one.by_condensed) == len(one.claims):
        return "The measured values below are those of this condensed data."
    names = ", ".join(f"`{name.partition('.')[2]}`" for name in one.by_condensed)
    return (
        "The measured values below are those of the complete data, but for claims that were "
        f"declared or changed after the runs: {names}."
    )


def _cut(one: Entry) -> list[str]:
    if one.is_full:
        return []
    cut = one.cut or f"{one.record.extent}; a full reproduction has more seeds"
    return [f"**Not a full reproduction: {cut}.** A verdict may differ from that of all runs.", ""]


def _keys(experiment: Experiment) -> list[str]:
    """Return a table of what varies from run to run."""
    found: dict[str, dict[str, None]] = {}
    for point in experiment.points(range(1, experiment.seeds + 1)):
        for key, value in point.keys.items():
            found.setdefault(key, {}).setdefault(f"{value}")
    meanings = {column.name: column.meaning for column in experiment.columns}
    rows = []
    for key, values in found.items():
        names = list(values)
        shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
        rows.append((f"`{key}`", cell(meanings.get(key, "")), cell(shown)))
    return table(("varied", "meaning", "values"), rows)


def _scenario(experiment: Experiment) -> list[str]:
    """Return the first scenario, without the end of a long one."""
    first = experiment.points([1])[0]
    lines = first.scenario.rstrip().split("\n")
    left = len(lines) - LINES
    rest = [f"# and {left:,} more lines"] if left > 0 else []
    heading = f"The scenario of the first run ({cell(first.name)}):"
    return [heading, "", "```toml", *lines[:LINES], *rest, "```"]


def _claims(claims: Sequence[Claim], words: Words) -> list[str]:
    several = any(claim.single_seeds for claim in claims)
    rows = []
    for claim in claims:
        name = claim.id.partition(".")[2]
        verdict = _verdict(claim, words)
        alone = [text.seeds(claim.single_seeds)] if several else []
        cells = (claim.text, claim.paper, claim.measured, verdict, *alone, claim.note)
        rows.append((f"`{name}`", *map(cell, cells)))
    seeds = ["single seeds"] if several else []
    headings = ("claim", "text", words.paper, "measured", "verdict", *seeds, "criterion")
    return table(headings, rows)


def _verdict(claim: Claim, words: Words) -> str:
    reproduced = claim.verdict is Verdict.REPRODUCED
    said = words.confirmed if reproduced else claim.verdict.value
    return f"{text.MARKS[claim.verdict]} {said}"


def _findings(findings: str, words: Words) -> list[str]:
    if not findings:
        return []
    return [
        f"## {words.findings}",
        "",
        words.source,
        "",
        findings,
        "",
    ]


def _record(one: Entry) -> list[str]:
    record = one.record
    plural = "s" if record.seeds > 1 else ""
    rows = [
        ("extent", record.extent),
        ("runs", f"{record.runs:,}, seed{plural} {_seeds(record.seeds)}"),
        ("processor time", show_duration(record.cpu_s)),
        ("packet-hops", f"{record.packet_hops:.3g}"),
        ("version", record.version),
        ("SHA-256 of the simulator", f"`{record.simulator[:16]}...`"),
    ]
    return table(("", ""), [(name, cell(value)) for name, value in rows])


def _seeds(count: int) -> str:
    return "1" if count == 1 else f"1 to {count}"


def index(known: Registry, found: Iterable[Entry]) -> str:
    """Return the index: counts by paper, a line an experiment, and the claims that do not hold."""
    of = {one.experiment.id: one for one in found}
    asked = {i: one for i, one in of.items() if words_of(one.experiment) is OF_QUESTIONS}
    published = {i: one for i, one in of.items() if i not in asked}
    every = [words_of(known.load(name)) for name in known]
    lines = [
        "# The book of results",
        "",
        text.prose(
            "Each published experiment that was run, with its figure, its data, and a verdict on "
            "each claim. `linkpool book` writes these pages from reproductions. "
            "`manifest.json` has the SHA-256 of each file, so whoever cites the book names the "
            "SHA-256 of `manifest.json`. How claims are judged: "
            "[experiments](../experiments.md#how-claims-are-judged)."
        ),
        "",
        f"**{text.tally(_claims_of(published))}**, in {len(published)} of "
        f"{every.count(OF_PAPERS)} experiments. "
        "A claim that is judged at two settings counts twice.",
        "",
        *_by_default(_claims_of(published)),
        *_alone(_claims_of(published)),
        *_asked(asked, every.count(OF_QUESTIONS)),
        *_by_paper(known, of),
        "",
    ]
    for paper, (name, *_) in PAPERS.items():
        mine = [e for e in map(known.load, known) if paper_of(e) == paper]
        if mine:
            lines += [f"## {name[0].upper()}{name[1:]}", "", *_by_experiment(mine, of), ""]
    lines += ["## Claims that do not reproduce in full", "", *_missed(published), ""]
    if asked:
        lines += ["## Hypotheses that are not confirmed in full", "", *_missed(asked), ""]
    return "\n".join(lines)


def _claims_of(entries: Mapping[str, Entry]) -> list[Claim]:
    return [claim for one in entries.values() for claim in one.claims]


def _by_default(claims: Sequence[Claim]) -> list[str]:
    """Count the claims without those that judge a published number once more."""
    again = [name for name, declared in EXPERIMENTS.items() if declared.again]
    usual = [c for c in claims if c.id.partition(".")[0] not in again and FAULTS not in c.id]
    if len(usual) == len(claims):
        return []
    line = (
        f"**With the default settings of the transports alone: {text.tally(usual)}.** This leaves "
        f"out {' and '.join(again)}, which were declared after a trial and judge published numbers "
        "once more with faults or with weaker loss recovery, and the claims of other experiments "
        f"whose names have `{FAULTS}`, which do so with the faults of the authors."
    )
    return [text.prose(line), ""]


def _alone(claims: Sequence[Claim]) -> list[str]:
    """Say how many verdicts do not hang on the choice of seeds."""
    several = [claim for claim in claims if claim.single_seeds]
    if not several:
        return []
    firm = sum(set(claim.single_seeds) == {claim.verdict} for claim in several)
    line = (
        f"**{firm} of the {len(several)} claims that were judged with several seeds have the same "
        "verdict by each seed alone.** The column *single seeds* of each page counts the others."
    )
    return [text.prose(line), ""]


def _asked(asked: Mapping[str, Entry], count: int) -> list[str]:
    if not asked:
        return []
    said = text.tally(_claims_of(asked), "hypotheses", OF_QUESTIONS.confirmed)
    line = (
        f"**Open questions: {said}**, in {len(asked)} of {count} experiments. Hypotheses were "
        "written before the runs; one that is not confirmed is an answer, too."
    )
    return [text.prose(line), ""]


def _by_paper(known: Registry, of: Mapping[str, Entry]) -> list[str]:
    rows = []
    for paper, (name, *_) in PAPERS.items():
        ids = [e.id for e in map(known.load, known) if paper_of(e) == paper]
        claims = [claim for i in ids if i in of for claim in of[i].claims]
        there = sum(i in of for i in ids)
        counts = [str(count(claims, verdict)) for verdict in Verdict]
        rows.append((name, f"{there} of {len(ids)}", str(len(claims)), *counts))
    headings = ("paper", "experiments", "claims", "reproduced", "partly", "not")
    return table(headings, rows)


def _by_experiment(mine: Sequence[Experiment], of: Mapping[str, Entry]) -> list[str]:
    rows: list[tuple[str, ...]] = []
    for experiment in mine:
        one = of.get(experiment.id)
        if one is None:
            rows.append(
                (experiment.id, cell(experiment.title), "", "", "", "not run at this version")
            )
            continue
        counts = [str(count(one.claims, verdict)) for verdict in Verdict]
        extent = one.record.extent if one.is_full else f"only {one.record.extent}"
        made = f"{cell(extent)}; {show_duration(one.record.cpu_s)}"
        link = f"[{experiment.id}]({experiment.id}.md)"
        rows.append((link, cell(experiment.title), *counts, made))
    confirmed = words_of(mine[0]).confirmed
    return table(("", "experiment", confirmed, "partly", "not", "run; processor time"), rows)


def _missed(of: Mapping[str, Entry]) -> list[str]:
    rows = []
    for verdict in (Verdict.NOT, Verdict.PARTLY):
        for one in of.values():
            for claim in one.claims:
                if claim.verdict is verdict:
                    place = words_of(one.experiment).claims.lower()
                    name = f"[{claim.id}]({one.experiment.id}.md#{place})"
                    said = f"{text.MARKS[verdict]} {verdict.value}"
                    rows.append((name, *map(cell, (claim.text, claim.paper, claim.measured, said))))
    if not rows:
        return ["None."]
    return table(("claim", "text", "paper", "measured", "verdict"), rows)

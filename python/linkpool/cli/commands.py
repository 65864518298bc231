"""All commands: where each is, and the first paragraph of its help."""

from typing import Annotated

import typer

from linkpool import _core
from linkpool.cli.console import say
from linkpool.cli.group import Command, Commands, group

GOES_ON = "interrupted; the same command goes on where this one stopped"

STUDY_COMMANDS: Commands = {
    "new": Command(
        "linkpool.cli.new:new",
        "Write a scenario or a study with comments, which runs as it is.",
    ),
    "check": Command(
        "linkpool.cli.check:check",
        "Check a scenario or a study, and say in a page what it means; nothing runs.",
    ),
    "run": Command(
        "linkpool.cli.study.run:run",
        "Make the runs of a study, and write its data to DIR/NAME.",
        GOES_ON,
    ),
    "status": Command(
        "linkpool.cli.study.status:status",
        "Say which runs of a study are made, and which are not.",
    ),
    "show": Command(
        "linkpool.cli.study.show:show",
        "Print the statistics of a study that has run.",
    ),
}

STUDY = group(
    STUDY_COMMANDS,
    add_completion=False,
    help="Answer a question that takes many runs: arms, settings, seeds, confidence.",
)

COMMANDS: Commands = {
    "new": Command(
        "linkpool.cli.new:new",
        "Write a scenario or a study with comments, which runs as it is.",
    ),
    "check": Command(
        "linkpool.cli.check:check",
        "Check a scenario or a study, and say in a page what it means; nothing runs.",
    ),
    "run": Command(
        "linkpool.cli.run:run",
        "Simulate a scenario and write its tables; they are the same on any number of threads.",
    ),
    "serve": Command(
        "linkpool.cli.serve:serve",
        "Let a program in another process drive a run: frames of JSON on stdin and stdout.",
    ),
    "seal": Command(
        "linkpool.cli.seal:seal",
        "Make a result of the tables that the C library has written.",
    ),
    "show": Command(
        "linkpool.cli.show:show",
        "Print the statistics of a result.",
    ),
    "compare": Command(
        "linkpool.cli.compare:compare",
        "Print measures of several results side by side, with the ratio (×) to the first.",
    ),
    "plot": Command(
        "linkpool.cli.plot:plot",
        "Draw a figure of results or studies, with its data beside it as CSV.",
    ),
    "report": Command(
        "linkpool.cli.report:report",
        "Write one self-contained page about results, which opens in a browser without a network.",
    ),
    "explain": Command(
        "linkpool.cli.explain:explain",
        "Make the run again with a trace of some flows, and tell where their time went.",
    ),
    "replay": Command(
        "linkpool.cli.replay:replay",
        "Make the run of a result again, and record more: time series, or a packet capture.",
    ),
    "perfetto": Command(
        "linkpool.cli.perfetto:perfetto",
        "Make the run of a result again, and write what happens to flows as a Perfetto trace.",
    ),
    "export": Command(
        "linkpool.cli.export:export",
        "Write the completed flows of a result for scripts that read HPCC's or htsim's output.",
    ),
    "convert": Command(
        "linkpool.cli.convert:convert",
        "Write programs of ranks as GOAL, text or binary.",
    ),
    "optimum": Command(
        "linkpool.cli.optimum:optimum",
        "Compute the optimal rates of a scenario's unlimited flows, all at once, over any paths.",
    ),
    "estimate": Command(
        "linkpool.cli.estimate:command",
        "Estimate slowdowns in a large fabric by scale models, or a job by its first iterations.",
    ),
    "topology": Command(
        "linkpool.cli.topology:topology",
        "Print the structure of the fabric of a scenario or of a graph file, and draw it.",
    ),
    "reproduce": Command(
        "linkpool.cli.reproduce:reproduce",
        "Reproduce published experiments: data, figure, and a verdict on each claim.",
        GOES_ON,
    ),
    "book": Command(
        "linkpool.cli.book:book",
        "Write the book of results from the reproductions in a directory.",
    ),
    "study": STUDY,
    "bench": Command(
        "linkpool.cli.bench:bench",
        "Run benchmark tasks: packet-hops per second, CPU, memory.",
    ),
    "linux": Command(
        "linkpool.cli.linux:linux",
        "Control congestion of Linux's own MPTCP (eBPF), and run scenarios on the real stack.",
        None,
    ),
    "columns": Command(
        "linkpool.cli.tables:columns",
        "Explain the columns of a run's tables, or of an experiment's data.",
    ),
    "schema": Command(
        "linkpool.cli.tables:schema",
        "Print the JSON Schema of scenario files.",
    ),
}


app = group(
    COMMANDS,
    add_completion=True,
    help="A packet-level simulator workbench for multipath transport in data centres.",
    epilog="Exit codes: 0 done, 1 a run failed or a claim does not hold, 2 "
    "something is wrong with your input, 130 interrupted.",
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"linkpool {_core.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Take the options that stand before a command."""

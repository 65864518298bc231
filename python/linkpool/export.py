"""Completed flows as other simulators print them, for scripts that read their output."""

from collections.abc import Callable
from pathlib import Path

import polars as pl

from linkpool.publish import publish_file
from linkpool.result import Result

ROWS = 1 << 20
"""Flows that are written at a time."""

INCAST, NORMAL = 200, 100
"""Destination ports by which HPCC's analysis tells flows of an incast from others."""


class ExportError(ValueError):
    """A result cannot be exported; the message says why, and what would do."""


def export(result: Result, format: str, out: str | Path) -> None:  # noqa: A002
    """Write the completed flows of a result as another simulator does, in order of completion.

    Args:
        result: the result.
        format: `"hpcc-fct"`, the file `fct.txt` of HPCC's simulator; or `"htsim"`, the lines that
            htsim's UEC transport prints.
        out: the file; one that is there is replaced.

    Raises:
        ExportError: there is no such format.

    """
    if format not in FORMATS:
        raise ExportError(f"there is no format {format!r}; formats are {', '.join(FORMATS)}")
    flows = result.scan("flows").filter(pl.col("end_s").is_not_null())
    line = FORMATS[format](result)
    count = flows.select(pl.len()).collect().item()
    with publish_file(Path(out)) as path, path.open("wb") as file:
        for start in range(0, count, ROWS):
            lines = flows.slice(start, ROWS).select(line=line).collect()
            lines.write_csv(file, include_header=False, quote_style="never")


def _hosts(result: Result) -> list[str]:
    """Return the names of the hosts, in order of their index: links come by sending node."""
    hosts = result.links.filter(pl.col("layer") == "host")
    return hosts["from"].unique(maintain_order=True).to_list()


def _by_host(result: Result, column: str, value: Callable[[int], str]) -> pl.Expr:
    names = _hosts(result)
    return pl.col(column).replace_strict(
        names, [value(i) for i in range(len(names))], return_dtype=pl.String()
    )


def _nanoseconds(column: str) -> pl.Expr:
    return (pl.col(column) * 1e9).round().cast(pl.Int64)


def _hpcc(result: Result) -> pl.Expr:
    """Source, destination (addresses in hex), ports, bytes, start, FCT, FCT alone (ns)."""
    workloads = result.workloads
    incasts = workloads.filter(pl.col("kind") == "incast")["label"].to_list()
    return pl.format(
        "{} {} {} {} {} {} {} {}",
        _by_host(result, "src", _address),
        _by_host(result, "dst", _address),
        10_000 + pl.col("flow") % 50_000,
        pl.when(pl.col("label").is_in(incasts)).then(INCAST).otherwise(NORMAL),
        pl.col("size_bytes").fill_null(pl.col("acked_bytes")),
        _nanoseconds("start_s"),
        _nanoseconds("fct_s"),
        _nanoseconds("ideal_fct_s"),
    )


def _address(host: int) -> str:
    """Return the address of a node in HPCC's simulator: 11, its number in two bytes, 1."""
    return f"{0x0B000001 + (host // 256 << 16) + (host % 256 << 8):08x}"


def _htsim(result: Result) -> pl.Expr:
    """Flow, its number, its source, when it finished (us), packets and bytes."""
    return pl.format(
        "Flow Uec_{}_{} flowId {} uecSrc {} finished at {} total messages 1 total packets {} "
        "RTS 0 total bytes {} in_flight now 0",
        _by_host(result, "src", str),
        _by_host(result, "dst", str),
        pl.col("flow"),
        pl.col("flow"),
        (pl.col("end_s") * 1e6).round(6),
        pl.col("segments") - pl.col("retransmits"),
        pl.col("acked_bytes"),
    )


FORMATS: dict[str, Callable[[Result], pl.Expr]] = {"hpcc-fct": _hpcc, "htsim": _htsim}
"""The line of a flow, by the name of the format."""

"""The common parts of figures over time: choice of flows, lines and samples."""

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.figures import look
from linkpool.figures.kind import FigureError, Request, one_arm
from linkpool.figures.look import TimeAxis
from linkpool.figures.source import recorded
from linkpool.figures.thin import extremes
from linkpool.unfinished import so_far

SAMPLES = 2000
"""Of a line, about: more than a column of paper can show."""
FEW = 10
"""Of a line with fewer samples, each is a dot; flows with more are shown rather."""


def of_flows(request: Request, figure: str, table: str, value: str) -> pl.DataFrame:
    """Return the samples of the flows that are asked for, or of the slowest well sampled one.

    Raises:
        FigureError: there are none of a flow that is asked for.

    """
    result = one_arm(request, figure).results[0]
    samples = recorded(result, table, figure)
    wanted = list(request.flows)
    if not wanted:
        counts = samples.group_by("flow").len("samples")
        sampled = counts.with_columns(well=pl.col("samples") >= FEW)
        slowest = (
            so_far(result.scan("flows"))
            .join(sampled, on="flow")
            .sort(
                "well",
                "slowdown",
                "active_s",
                "flow",
                descending=[True, True, True, False],
                nulls_last=True,
            )
            .select("flow")
            .head(1)
            .collect()
        )
        wanted = slowest["flow"].to_list()
    rows = within(samples.filter(pl.col("flow").is_in(wanted)), request).collect()
    missing = sorted(set(wanted) - set(rows["flow"]))
    if missing or not wanted:
        whose = f"flow {missing[0]}" if missing else "any flow"
        raise FigureError(
            f"{figure}: {result.dir} has no samples of {whose} in this time; record.{table} may "
            "leave out its label, or it was over before the first sample"
        )
    line = pl.struct("flow", "subflow").rank("dense").cast(pl.Int64)
    rows = rows.sort("flow", "subflow", "time_s").with_columns(__line=line)
    return extremes(rows, "__line", "time_s", value, SAMPLES).drop("__line")


def within(samples: pl.LazyFrame, request: Request) -> pl.LazyFrame:
    """Keep the samples in the time that is asked for."""
    if request.start is not None:
        samples = samples.filter(pl.col("time_s") >= request.start)
    if request.end is not None:
        samples = samples.filter(pl.col("time_s") <= request.end)
    return samples


def lines(
    figure: Figure, rows: pl.DataFrame, value: str, label: str, scale: float, dots: bool = False
) -> None:
    """Draw a panel for each flow, and in it a line for each subflow, or a dot for each sample."""
    time = TimeAxis.of(rows["time_s"])
    flows = rows["flow"].unique().sort().to_list()
    all_axes = look.panels(figure, len(flows), time.label)
    styles = look.looks(rows["subflow"].unique().sort())
    for axes, flow in zip(all_axes, flows, strict=True):
        of_flow = rows.filter(flow=flow)
        axes.set_title(f"flow {flow}", loc="left")
        axes.set_ylabel(label)
        for (subflow,), of in of_flow.group_by("subflow", maintain_order=True):
            style = styles[subflow]
            axes.plot(
                time.at(of["time_s"]),
                of[value].to_numpy() * scale,
                color=style.colour,
                linestyle="" if dots else style.dash,
                marker=style.dot if dots or of.height < FEW else "",
                markeredgewidth=0.5,
                markersize=3,
                label=f"subflow {subflow}",
            )
        if "suppressed" in of_flow.columns:
            shade_suppression(axes, of_flow, time)
        axes.set_ylim(bottom=0)
    look.legend(figure, all_axes)


def shade_suppression(axes: Axes, rows: pl.DataFrame, time: TimeAxis) -> None:
    """Shade the times in which AMP keeps the flow on one path."""
    at = rows.group_by("time_s").agg(pl.col("suppressed").any()).sort("time_s")
    spans = (
        at.with_columns(run=pl.col("suppressed").rle_id())
        .group_by("run", maintain_order=True)
        .agg(
            pl.col("suppressed").first(),
            pl.col("time_s").first().alias("from"),
            pl.col("time_s").last().alias("to"),
        )
        .filter("suppressed")
    )
    for _, _, start, end in spans.iter_rows():
        axes.axvspan(time.place(start), time.place(end), color="#f2e6c8", zorder=0, linewidth=0)
    if spans.height:
        axes.set_title(f"{axes.get_title('left')}; shaded: suppressed to one path", loc="left")

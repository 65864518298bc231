"""The frame of a figure: a row of panels for each setting, with labels that are declared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkpool.study import style


@dataclass(frozen=True)
class Panel:
    """What is drawn in a panel, and its labels.

    Attributes:
        paint: draws the rows of a setting.
        title: above the panel; `{}` is the setting, and the name of a column its value there.
        x: below the panels of the last setting.
        y: beside the panel, or the first of those that share the axis; in braces as in the title.
        from_zero: the y axis begins at 0.

    """

    paint: Callable[[Axes, pl.DataFrame], None]
    title: str = ""
    x: str = ""
    y: str = ""
    from_zero: bool = False


@dataclass(frozen=True)
class Frame:
    """The panels of a figure, and how they stand.

    Attributes:
        panels: of each setting, from left to right.
        title: of the figure, after the experiment's id.
        size: of a panel, inches.
        sharey: which panels have the same y axis, as matplotlib has it.
        sharex: which panels have the same x axis.
        legend: the most columns of the legend; 0: none.
        key: which panel it is of.
        columns: panels side by side, of a figure of one setting; 0: all.
        together: the panels show all settings, not a row for each.

    """

    panels: Sequence[Panel]
    title: str
    size: tuple[float, float] = (3.2, 2.6)
    sharey: style.Share = True
    sharex: style.Share = False
    legend: int = 6
    key: int = 0
    columns: int = 0
    together: bool = False

    def draw(self, name: str, settings: Mapping[str, pl.DataFrame]) -> Figure:
        """Draw a row of panels for each setting.

        Args:
            name: of the experiment.
            settings: the rows of each setting, by its name.

        """
        columns = self.columns or len(self.panels)
        rows = len(settings) * len(self.panels) // columns
        title = f"{name}: {self.title}"
        figure, axes = style.panels(rows, columns, title, self.size, self.sharey, self.sharex)
        cells = [(panel, setting) for setting in settings for panel in self.panels]
        for i, (at, (panel, setting)) in enumerate(zip(axes.flat, cells, strict=True)):
            data = settings[setting]
            words = {column: data[column].first() for column in data.columns}
            panel.paint(at, data)
            if panel.title:
                at.set_title(panel.title.format(setting, **words))
            if panel.y and (i % columns == 0 or self.sharey in (False, "col")):
                at.set_ylabel(panel.y.format(setting, **words))
            if panel.x and (self.columns or i >= (rows - 1) * columns):
                at.set_xlabel(panel.x)
            if panel.from_zero:
                style.from_zero(at)
        if self.legend:
            style.legend(figure, axes.flat[self.key], self.legend)
        return figure

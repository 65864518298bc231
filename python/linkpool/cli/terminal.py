"""A console whose text is plain: what a terminal would take for a command is shown as an escape."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from linkpool.plain import plain


class PlainConsole(Console):
    """A console whose text is plain; what it sends to move the cursor is its own."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as rich does, and make the text of what comes out plain."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(plain(segment.text), segment.style)

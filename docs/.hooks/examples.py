"""Examples in docstrings, which begin with `>>>`, become blocks of code on the page of Python."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?m)^( *)>>> .*(?:\n(?! *\n).+)*")


class Examples(griffe.Extension):
    """Fence the examples of each docstring."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of an object that griffe has read."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(r"\1```pycon\n\g<0>\n\1```", obj.docstring.value)

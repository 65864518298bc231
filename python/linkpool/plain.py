"""Texts that show what they hold: names come from files that others may have written."""

import unicodedata

_NOT_SHOWN = ("Cc", "Cf", "Cs")
"""Unicode's categories of what is not shown: controls, formats, and halves of characters."""


def plain(text: str) -> str:
    r"""Return a text that a terminal shows and does not obey: what is not shown is an escape.

    >>> print(plain("a\x1b[31mb"))
    a\x1b[31mb

    """
    if text.isprintable():
        return text
    return "".join(
        c
        if c in "\n\t" or unicodedata.category(c) not in _NOT_SHOWN
        else c.encode("unicode_escape").decode()
        for c in text
    )

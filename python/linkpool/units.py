"""Quantities as people read them."""

PS = 1_000_000_000_000
"""Picoseconds in a second."""


def show_seconds(value: float | None) -> str:
    """Write a time in the unit that suits it, with three significant digits."""
    if value is None:
        return "-"
    size = abs(value)
    if size == 0.0 or size >= 0.9995:
        return f"{_digits(value)} s"
    for factor, unit in ((1e3, "ms"), (1e6, "us")):
        if size * factor >= 0.9995:
            return f"{_digits(value * factor)} {unit}"
    return f"{_digits(value * 1e9)} ns"


def show_duration(seconds: float) -> str:
    """Write a time that a person waits.

    >>> [show_duration(s) for s in (3.14, 90, 600, 9000)]
    ['3.1 s', '90 s', '10 min', '2.5 h']
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def show_rate(bits_per_second: float | None) -> str:
    """Write a rate in Gbit/s, Mbit/s or kbit/s, with three significant digits."""
    if bits_per_second is None:
        return "-"
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bits_per_second >= 0.9995 * factor:
            return f"{_digits(bits_per_second / factor)} {unit}"
    return f"{_digits(bits_per_second)} bit/s"


def show_bytes(value: float) -> str:
    """Write a size in decimal units, with three significant digits."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if value >= 0.9995 * factor:
            return f"{_digits(value / factor)} {unit}"
    return f"{_digits(value)} B"


def show_number(value: float | None) -> str:
    """Write a number with three significant digits."""
    return "-" if value is None else _digits(value)


def _digits(value: float) -> str:
    if value == 0.0:
        return "0"
    text = f"{value:.3g}"
    return f"{float(text):.0f}" if "e" in text and abs(value) >= 1 else text

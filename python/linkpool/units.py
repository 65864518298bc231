"""Quantities as people read them."""

PS = 1_000_000_000_000
"""Picoseconds in a second."""


def show_seconds(value: float | None, *, given: bool = False) -> str:
    """Write a time in the unit that suits it.

    What is measured has three significant digits, and all before the point; what a scenario gives
    has all its digits.

    >>> show_seconds(0.0102537), show_seconds(0.0102537, given=True)
    ('10.3 ms', '10.2537 ms')
    """
    if value is None:
        return "-"
    size, write = abs(value), _all_digits if given else _digits
    if size == 0.0 or size >= 0.9995:
        return f"{write(value)} s"
    for factor, unit in ((1e3, "ms"), (1e6, "us")):
        if size * factor >= 0.9995:
            return f"{write(value * factor)} {unit}"
    return f"{write(value * 1e9)} ns"


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


def show_rate(bits_per_second: float | None, *, given: bool = False) -> str:
    """Write a rate in Gbit/s, Mbit/s or kbit/s, with digits as `show_seconds` has.

    >>> show_rate(819_200e9), show_rate(12.345e9), show_rate(12.345e9, given=True)
    ('819200 Gbit/s', '12.3 Gbit/s', '12.345 Gbit/s')
    """
    if bits_per_second is None:
        return "-"
    write = _all_digits if given else _digits
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bits_per_second >= 0.9995 * factor:
            return f"{write(bits_per_second / factor)} {unit}"
    return f"{write(bits_per_second)} bit/s"


def show_bytes(value: float, *, given: bool = False) -> str:
    """Write a size in decimal units, with digits as `show_seconds` has.

    >>> show_bytes(131_072), show_bytes(131_072, given=True)
    ('131 KB', '131.072 KB')
    """
    write = _all_digits if given else _digits
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if value >= 0.9995 * factor:
            return f"{write(value / factor)} {unit}"
    return f"{write(value)} B"


def show_number(value: float | None) -> str:
    """Write a number with three significant digits, and all before the point."""
    return "-" if value is None else _digits(value)


def _digits(value: float) -> str:
    if value == 0.0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def _all_digits(value: float) -> str:
    # Of 64-bit floats 15 digits are exact; a division, or a product before, may take one of them.
    return f"{value:.14g}" if abs(value) < 1e14 else f"{value:.0f}"

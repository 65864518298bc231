"""Quantities as people read them, and as scenario files have them."""

import re
from decimal import Decimal

_UNITS = {
    "s": {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    "bit/s": {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12},
    "B": {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1024.0**2},
}
"""Units of scenario files: what each is, of which unit."""

PS = 1_000_000_000_000
"""Picoseconds in a second."""


def read_quantity(text: str) -> tuple[float, str] | None:
    """Read a number with a unit as scenario files have it: its value, and in which unit.

    >>> read_quantity("5.6us"), read_quantity("10Gbps"), read_quantity("128KiB"), read_quantity("x")
    ((5.6e-06, 's'), (10000000000.0, 'bit/s'), (131072.0, 'B'), None)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([A-Za-z]+)", text)
    if found:
        for unit, factors in _UNITS.items():
            if found[2] in factors:
                return float(Decimal(found[1]) * Decimal(repr(factors[found[2]]))), unit
    return None


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
    ('819,200 Gbit/s', '12.3 Gbit/s', '12.345 Gbit/s')
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
    """Write a number with three significant digits, and all before the point, in groups of three.

    >>> show_number(0.98765), show_number(30856.4)
    ('0.988', '30,856')
    """
    return "-" if value is None else _digits(value)


def show_count(value: int | None) -> str:
    """Write a count, in groups of three digits.

    >>> show_count(30856), show_count(None)
    ('30,856', '-')
    """
    return "-" if value is None else f"{value:,}"


def counted(number: int, what: str) -> str:
    """Write a number with what it counts.

    >>> counted(1, "run"), counted(30856, "flow"), counted(2, "switch")
    ('1 run', '30,856 flows', '2 switches')
    """
    ending = "es" if what.endswith(("ch", "sh", "s", "x")) else "s"
    return f"{number:,} {what}{'' if number == 1 else ending}"


def _digits(value: float) -> str:
    if value == 0.0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def _all_digits(value: float) -> str:
    # Of 64-bit floats 15 digits are exact; a division, or a product before, may take one of them.
    return f"{value:,.14g}" if abs(value) < 1e14 else f"{value:,.0f}"

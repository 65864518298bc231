"""Quantities as people read and write them."""

import pytest

from linkpool import _core
from linkpool.units import show_bytes, show_number, show_rate, show_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("20s", 20.0), ("5.6us", 5.6e-6), ("200 ms", 0.2), ("100ns", 1e-7), ("33600ps", 3.36e-8)],
)
def test_seconds(text: str, seconds: float) -> None:
    assert _core.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "20", "s", "20 m", "-1s", "1e-3s"])
def test_seconds_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="time"):
        _core.seconds(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0.0, "0 s"),
        (1.87e-3, "1.87 ms"),
        (0.663, "663 ms"),
        (0.99999, "1 s"),
        (1.274, "1.27 s"),
        (1234.0, "1,234 s"),
        (2.5e-5, "25 us"),
        (3e-8, "30 ns"),
    ],
)
def test_show_seconds(seconds: float | None, text: str) -> None:
    assert show_seconds(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (None, "-"),
        (0.0, "0 bit/s"),
        (9.57e9, "9.57 Gbit/s"),
        (999.9e6, "1 Gbit/s"),
        (62.1e6, "62.1 Mbit/s"),
        (1500.0, "1.5 kbit/s"),
        (819_200e9, "819,200 Gbit/s"),
        (999.5e9, "1,000 Gbit/s"),
    ],
)
def test_show_rate(rate: float | None, text: str) -> None:
    assert show_rate(rate) == text


def test_show_number() -> None:
    assert [show_number(x) for x in (None, 7, 0.1234, 123456.0)] == ["-", "7", "0.123", "123,456"]


def test_what_a_scenario_gives_keeps_its_digits() -> None:
    rates = [show_rate(x, given=True) for x in (819_200e9, 12.345e9, 33_333_333.0, 1.0)]
    assert rates == ["819,200 Gbit/s", "12.345 Gbit/s", "33.333333 Mbit/s", "1 bit/s"]
    times = [show_seconds(x, given=True) for x in (0.0102537, 1.00005, 1e-12, 0.0, 123_456.5)]
    assert times == ["10.2537 ms", "1.00005 s", "0.001 ns", "0 s", "123,456.5 s"]
    assert [show_bytes(x, given=True) for x in (131_072, 1, 2**40)] == [
        "131.072 KB",
        "1 B",
        "1,099.511627776 GB",
    ]

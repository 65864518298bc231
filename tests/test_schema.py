"""The JSON Schema of scenarios accepts good scenarios and rejects what a schema can tell is bad."""

import json
import sys
from typing import Any

import jsonschema
import pytest

import linkpool
from linkpool import _core

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GOOD = """
name = "good"
duration = "20s"
[topology.many-to-one]
senders = 30
rate = "10Gbps"
delay = "2us"
[queue]
limit = "150KB"
mark = 10
exempt = ["syn"]
[transport.amp]
control = "amp"
initial_ssthresh = "unlimited"
beta = 4
[[workload.flow]]
transport = "amp"
from = 0
to = "R"
[record]
queue = { every = "10us", links = ["W->R"] }
"""

SCHEMA: dict[str, Any] = json.loads(linkpool.schema())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def is_valid(text: str) -> bool:
    return VALIDATOR.is_valid(tomllib.loads(text))


def test_the_schema_is_a_schema() -> None:
    assert SCHEMA["$schema"] == VALIDATOR.META_SCHEMA["$id"]
    VALIDATOR.check_schema(SCHEMA)


def test_a_good_scenario_is_valid_and_as_it_is_run_too() -> None:
    assert is_valid(GOOD)
    assert is_valid(_core.check(GOOD, "good.toml", None, []))


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('"10Gbps"', "10"),
        ('"10Gbps"', '"10GB"'),
        ('"2us"', '"2"'),
        ("senders = 30", "senders = 0"),
        ("senders = 30\n", ""),
        ('duration = "20s"', ""),
        ("name", "nam"),
        ('control = "amp"', 'control = "apm"'),
        ("beta = 4", "beta = 0.5"),
        ("beta = 4", "bta = 4"),
        ('limit = "150KB"', 'limit = "150"'),
        ('"syn"', '"rst"'),
        ('to = "R"', ""),
        ("W->R", "W-R"),
        ("[queue]", '[topology.fat-tree]\nk = 4\nrate = "1Gbps"\ndelay = "1us"\n[queue]'),
    ],
)
def test_a_bad_one_is_not(good: str, bad: str) -> None:
    assert good in GOOD
    assert not is_valid(GOOD.replace(good, bad, 1))

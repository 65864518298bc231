"""TOML that studies write."""

import sys

from linkpool.study.toml import Table, dumps

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_what_is_written_reads_back_the_same() -> None:
    document: Table = {
        "name": 'a "quoted" β\\name',
        "seed": 7,
        "on": True,
        "ratio": 0.25,
        "topology": {"many-to-one": {"senders": 3, "rate": "10Gbps"}},
        "queue": {"exempt": ["syn", "fin"]},
        "workload": {"flow": [{"from": "S1"}, {"from": "S2", "start": "1us"}]},
        "record": {"queue": {"links": ["W->R"]}},
        "none": [],
    }
    assert tomllib.loads(dumps(document)) == document

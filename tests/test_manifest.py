"""The manifest that ends a published directory: its bytes, and each damage that it must show."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from linkpool.manifest import DamagedError, Entry, Manifest, verify

HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

# By hand: both sums above are those of `sha256sum`, and so is the last, of this text on one line:
# {"format": 1, "key": "k", "files": {"a": {"bytes": 5, "sha256": "2cf2..."}, "b": {...}}}
WHOLE = f"""{{
 "format": 1,
 "key": "k",
 "files": {{
  "a": {{
   "bytes": 5,
   "sha256": "{HELLO}"
  }},
  "b": {{
   "bytes": 0,
   "sha256": "{EMPTY}"
  }}
 }},
 "sha256": "8227c867aeac401f97090b7cbacff6b1f456ce7b1e37a41dbe662610077c0583"
}}
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Return a directory with two files and their manifest."""
    directory = tmp_path / "r"
    directory.mkdir()
    (directory / "b").write_bytes(b"")
    (directory / "a").write_bytes(b"hello")
    (directory / "manifest.json").write_bytes(Manifest.of(directory, "k").as_json())
    return directory


def test_a_manifest_by_hand(directory: Path) -> None:
    assert (directory / "manifest.json").read_text(encoding="utf-8") == WHOLE


def test_a_manifest_is_read_as_it_was_written(directory: Path) -> None:
    found = verify(directory)
    assert found == Manifest("k", {"a": Entry(5, HELLO), "b": Entry(0, EMPTY)})
    assert found == verify(str(directory), "k") == verify(directory, contents=False)
    assert found == Manifest.of(directory, "k"), "it does not name itself"


def test_a_file_of_many_blocks_has_the_sum_of_all(tmp_path: Path) -> None:
    content = bytes(range(256)) * (1 << 14) + b"end"  # 4 MiB and 3 bytes
    (tmp_path / "large").write_bytes(content)
    entry = Manifest.of(tmp_path, "k").files["large"]
    assert entry == Entry(len(content), hashlib.sha256(content).hexdigest())


def refused(directory: Path, key: str | None = None, contents: bool = True) -> str:
    """Return the damage, which the error names with the directory."""
    with pytest.raises(DamagedError) as error:
        verify(directory, key, contents)
    assert error.value.directory == directory
    assert str(error.value) == f"{directory} is damaged: {error.value.reason}"
    return error.value.reason


def test_each_damage_is_named(directory: Path) -> None:
    assert refused(directory, "other") == "manifest.json is that of another run"
    (directory / "a").write_bytes(b"hallo")
    assert refused(directory) == "a changed since it was written"
    verify(directory, "k", contents=False)
    (directory / "a").write_bytes(b"hello!")
    assert refused(directory, contents=False) == "a has 6 bytes instead of 5"
    (directory / "a").unlink()
    assert refused(directory, contents=False) == "a is missing"
    (directory / "a").mkdir()
    (directory / "c").touch()
    (directory / "0").touch()
    assert "instead of 5" in refused(directory, contents=False)
    (directory / "a").rmdir()
    (directory / "a").write_bytes(b"hello")
    assert refused(directory, contents=False) == "0 is not part of it"
    (directory / "0").unlink()
    (directory / "c").unlink()
    verify(directory)


def test_content_is_checked_unless_that_is_not_wanted(directory: Path) -> None:
    (directory / "a").write_bytes(b"hallo")
    with pytest.raises(DamagedError, match="a changed since it was written"):
        verify(directory)


def test_a_link_to_the_same_content_is_no_file_of_it(directory: Path) -> None:
    """What it leads to may change, or be deleted, without a trace in the directory."""
    (directory / "a").rename(directory.parent / "elsewhere")
    (directory / "a").symlink_to(directory.parent / "elsewhere")
    size = len(str(directory.parent / "elsewhere"))
    assert refused(directory, contents=False) == f"a has {size} bytes instead of 5"


def test_a_directory_that_is_gone_is_named(directory: Path) -> None:
    found = Manifest.read(directory)
    with pytest.raises(DamagedError, match=r"gone is damaged: No such file or directory$"):
        found.check(directory.parent / "gone", contents=False)
    assert refused(directory.parent / "gone") == "manifest.json: No such file or directory"


def test_one_file_is_checked_alone(directory: Path) -> None:
    found = Manifest.read(directory)
    (directory / "b").write_bytes(b"damage")
    found.check_file(directory, "a")
    for name, reason in (("b", "b changed since it was written"), ("c", "c is not part of it")):
        with pytest.raises(DamagedError) as error:
            found.check_file(directory, name)
        assert (error.value.reason, error.value.directory) == (reason, directory)
    (directory / "a").unlink()
    with pytest.raises(DamagedError) as error:
        found.check_file(directory, "a")
    assert error.value.reason == "a: No such file or directory"
    assert error.value.directory == directory


FILES: dict[str, Any] = {"a": {"bytes": 5, "sha256": HELLO}}


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "5", "[1]", "{}", "\xff", "{", '"text"'),
        json.dumps({"files": FILES}),
        json.dumps({"key": "k"}),
        json.dumps({"key": "k", "files": ["a"]}),
        json.dumps({"key": "k", "files": {"a": 5}}),
        json.dumps({"key": "k", "files": {"a": {"bytes": 5}}}),
        json.dumps({"key": "k", "files": {"a": {"sha256": HELLO}}}),
        json.dumps({"key": "k", "files": {"a": {"bytes": "five", "sha256": HELLO}}}),
        '{"key": "k", "files": {"a": {"bytes": 1e999, "sha256": ""}}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_manifest_is_named(directory: Path, text: str) -> None:
    (directory / "manifest.json").write_bytes(text.encode("latin-1"))
    assert refused(directory) == "manifest.json is not a manifest"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"k"', '"q"'),
        ('"bytes": 5', '"bytes": 6'),
        ('"bytes": 5', '"bytes": 5.0'),
        ('"bytes": 5', '"bytes": "5"'),
        ('"format": 1', '"format": 2'),
        ("\n}\n", "\n}"),
        ("{\n", "{\n "),
        ("2cf24", "3cf24"),
        ('"8227', '"0227'),
    ],
)
def test_a_manifest_that_was_changed_is_named(directory: Path, old: str, new: str) -> None:
    text = WHOLE.replace(old, new, 1)
    assert text != WHOLE
    (directory / "manifest.json").write_text(text, encoding="utf-8")
    assert refused(directory) == "manifest.json is not as linkpool wrote it"

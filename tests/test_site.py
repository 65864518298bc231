"""The documentation site: its search finds each key, at the row of the key."""

import functools
import http.server
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

ROWS = """<p>Before</p>
<!-- queue settings -->
<table><tbody>
<tr>
<td><code>limit</code></td>
<td><code>100</code></td>
<td>The <em>length</em></td>
</tr>
<tr>
<td>a word</td>
<td>of text</td>
</tr>
</tbody></table>
<!-- end -->
<!-- queue tables -->
<table><tbody>
<tr>
<td><code>limit</code></td>
<td>of another table</td>
</tr>
<tr>
<td><code>red.min</code></td>
<td>required</td>
</tr>
</tbody></table>
<!-- end -->
<table><tbody>
<tr>
<td><code>limit</code></td>
<td>outside</td>
</tr>
</tbody></table>
"""


@pytest.fixture
def keys() -> ModuleType:
    """Return the hook that gives keys their anchors."""
    path = ROOT / "docs" / ".hooks" / "keys.py"
    spec = importlib.util.spec_from_file_location("keys", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(source: str) -> SimpleNamespace:
    """Return what mkdocs says of a page."""
    return SimpleNamespace(url=source.replace(".md", ".html"), file=SimpleNamespace(src_uri=source))


def test_rows_of_keys_have_anchors(keys: ModuleType, tmp_path: Path) -> None:
    html = keys.on_page_content(ROWS, page("scenario/queue.md"))
    assert re.findall(r'<tr id="([^"]+)">', html) == ["limit", "queue-tables.limit", "red.min"]
    assert re.sub(r' id="[^"]+"', "", html) == ROWS
    (tmp_path / "search").mkdir()
    index = tmp_path / "search" / "search_index.json"
    index.write_text('{"docs": [{"location": "a.html", "text": "", "title": "A"}]}')
    keys.on_post_build(SimpleNamespace(site_dir=str(tmp_path)))
    docs = json.loads(index.read_text())["docs"]
    assert [entry["title"] for entry in docs] == [
        "A",
        "limit of [queue]",
        "limit of [queue]",
        "red.min of [queue]",
    ]
    assert docs[1]["location"] == "scenario/queue.html#limit"
    assert docs[1]["text"] == "100 The length"
    keys.on_pre_build()
    assert keys.found == []


@pytest.mark.parametrize(
    ("source", "part", "table"),
    [
        ("scenario.md", "top", "a scenario"),
        ("scenario/transport.md", "transport settings", "[transport.NAME]"),
        ("scenario/change.md", "change", "[[change]]"),
        ("scenario/workload.md", "workload keys", "all workloads"),
        ("topologies/fat-tree.md", "topology.fat-tree", "[topology.fat-tree]"),
        ("workloads/poisson.md", "workload.poisson", "[[workload.poisson]]"),
    ],
)
def test_a_key_is_found_with_its_table(
    keys: ModuleType, source: str, part: str, table: str
) -> None:
    keys.on_page_content(ROWS.replace("queue settings", part), page(source))
    assert keys.found[0]["title"] == f"limit of {table}"


def test_other_pages_stay_as_they_are(keys: ModuleType) -> None:
    assert keys.on_page_content(ROWS, page("results.md")) == ROWS
    assert keys.found == []


@pytest.fixture(scope="module")
def site() -> Path:
    """Build the site."""
    mkdocs = Path(sys.executable).parent / "mkdocs"
    subprocess.run([str(mkdocs), "build", "--strict"], cwd=ROOT, check=True, capture_output=True)
    return ROOT / "target" / "site"


def documented() -> Iterator[tuple[str, str]]:
    """Give each key of the reference pages with the page."""
    pages = [ROOT / "docs" / "scenario.md"]
    for folder in ("scenario", "topologies", "workloads"):
        pages += sorted((ROOT / "docs" / folder).glob("*.md"))
    for path in pages:
        text = path.read_text(encoding="utf-8")
        for part in re.findall(r"<!-- [a-z].*? -->\n(.*?)<!-- end -->", text, flags=re.S):
            for key in re.findall(r"^\| `([\w.]+)` \|(?!.*\n\|---)", part, flags=re.M):
                location = path.relative_to(ROOT / "docs").as_posix().replace(".md", ".html")
                yield key, location.replace("README.html", "index.html")


@pytest.mark.long
@pytest.mark.core
def test_the_search_knows_each_key_at_its_row(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    known = {(d["title"].split(" of ")[0], d["location"].split("#")[0]) for d in index["docs"]}
    wanted = set(documented())
    assert len(wanted) > 400
    assert wanted - known == set()
    for entry in index["docs"]:
        name, _, anchor = entry["location"].partition("#")
        if anchor and " of [" in entry["title"]:
            assert f'id="{anchor}"' in (site / name).read_text(encoding="utf-8"), entry["location"]


def browser() -> Any:
    """Start a browser."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    return webdriver.Chrome(options, webdriver.ChromeService(DRIVER))


@pytest.mark.long
@pytest.mark.core
@pytest.mark.skipif(BROWSER is None or DRIVER is None, reason="chromium is not installed")
def test_no_page_is_wider_than_a_telephone(site: Path) -> None:
    """What is wider scrolls by itself: tables, code, what cells of the notebook gave."""
    pages = [*site.glob("*.html"), *site.glob("*/*.html")]
    assert len(pages) > 150
    driver = browser()
    try:
        size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wide = []
        for page in pages:
            driver.get(page.as_uri())
            if driver.execute_script("return document.scrollingElement.scrollWidth") > 390:
                wide.append(page.name)
        assert wide == []
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site, as its search does not run from a file."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


@pytest.mark.long
@pytest.mark.core
@pytest.mark.skipif(BROWSER is None or DRIVER is None, reason="chromium is not installed")
@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("min_rto", "scenario/transport.html#min_rto"),
        ("reconverge", "scenario/routing.html#reconverge"),
        ("hosts_per_edge", "topologies/fat-tree.html#hosts_per_edge"),
        ("load_of", "workloads/poisson.html#load_of"),
        ("burst_loss", "scenario/change.html#burst_loss"),
    ],
)
def test_who_types_a_key_is_led_to_its_row(address: str, words: str, place: str) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    driver = browser()
    try:
        driver.get(f"{address}index.html?q={words}")

        def links(_: Any) -> list[str]:
            found = driver.find_elements(By.CSS_SELECTOR, ".md-search-result__link")
            return [str(link.get_attribute("href")) for link in found]

        found = WebDriverWait(driver, 60).until(links)
        shown = [re.sub(r"\?h=[^#]*", "", link).removeprefix(address) for link in found]
        assert place in shown[:3], shown
    finally:
        driver.quit()

"""The report in a real browser: no error, what is clicked appears, in dark and light."""

import base64
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import linkpool
from linkpool.report.page import write_report
from linkpool.study import Study
from linkpool.study.arms import arms_of
from linkpool.study.comparison import Comparison
from test_comparison import cells

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(BROWSER is None or DRIVER is None, reason="chromium is not installed"),
]

SCENARIO = """
seed = 3
duration = "2ms"
drain = "300ms"
[topology.fat-tree]
k = 4
rate = "1Gbps"
delay = "2us"
[queue]
limit = 20
mark = 5
[routing]
reconverge = "1ms"
[transport.amp]
preset = "paper-2013"
control = "amp"
subflows = 2
[[workload.poisson]]
transport = "amp"
load = 0.8
size = { cdf = "fb_hadoop_hpcc", interpolation = "linear" }
[[change]]
links = ["e0.0<->a0.0"]
state = "down"
at = "500us"
until = "1ms"
[record]
cwnd = { every = "20us" }
rate = { every = "50us" }
counters = { every = "50us" }
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page about two results."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "a.toml").write_text(SCENARIO, encoding="utf-8")
    for name, limit in (("amp", 20), ("shallow", 8)):
        linkpool.run(folder / "a.toml", out=folder / name, set={"queue.limit": limit})
    write_report(arms_of([folder / "amp", folder / "shallow"]), folder / "page.html", trace=2)
    return folder / "page.html"


@pytest.fixture(scope="module")
def study_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a study with a measure that has no value."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "a.toml").write_text(SCENARIO, encoding="utf-8")
    text = """
        base = "a.toml"
        seeds = 2
        measures = ["slowdown.p99", "goodput.mean", "timeouts.total"]
        report = true
        arm = [{ name = "deep" }, { name = "shallow", set = { queue.limit = 8 } }]
    """
    return Study.parse(text, folder / "s.toml").run(folder / "out").dir / "report.html"


JOB = """
duration = "20ms"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
rate = "10Gbps"
delay = "2us"
[transport.t]
control = "reno"
[[workload.training]]
transport = "t"
label = "train"
pp = 2
dp = 4
micro_batches = 4
forward = "60us"
backward = "90us"
activations = "50KB"
gradients = "1MB"
iterations = 4
stragglers = { ranks = [5], slowdown = 2, from_iteration = 1 }
failures = { at = ["5ms"], recovery = "900us", checkpoint_time = "300us" }
[record]
ranks = true
counters = { every = "50us" }
"""


@pytest.fixture(scope="module")
def job_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page about a job with a straggler, a failure and checkpoints."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    linkpool.run(folder / "job.toml", out=folder / "job")
    write_report(arms_of([folder / "job"]), folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def served_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page about requests to a model."""
    folder = tmp_path_factory.mktemp("served")
    linkpool.run("docs/workloads/inference.toml", out=folder / "served")
    write_report(arms_of([folder / "served"]), folder / "page.html", trace=1)
    return folder / "page.html"


@pytest.fixture
def browser(page: Path) -> Iterator[Any]:
    with opened(page) as driver:
        yield driver


@cache
def chrome() -> Any:
    """Start a browser, which the tests of a process use in turn, as a start takes seconds."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options: Any = Options()
    options.binary_location = str(BROWSER)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,1000")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(str(DRIVER)))


@pytest.fixture(scope="module", autouse=True)
def _browser_ends() -> Iterator[None]:
    yield
    if chrome.cache_info().currsize:
        chrome().quit()
        chrome.cache_clear()


@contextmanager
def opened(page: Path) -> Iterator[Any]:
    """Open a page as in a new browser; at the end nothing may have been complained of."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver = chrome()
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    driver.get("about:blank")  # or a page that differs only in its fragment would stay as it is
    driver.get_log("browser")  # what a test before left
    driver.get(page.as_uri())
    WebDriverWait(driver, 120).until(
        lambda d: d.execute_script("return document.body.dataset.ready") == "true"
    )
    WebDriverWait(driver, 120).until(lambda d: d.execute_script(CHARTS) > 0)
    yield driver
    assert driver.get_log("browser") == []
    fetched = driver.execute_script("return performance.getEntriesByType('resource').length")
    assert fetched == 0, "the page needs no network"


CHARTS = "return document.querySelectorAll('.timeline .uplot').length"


def wait(browser: Any, condition: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 60).until(lambda _: condition())


def title(browser: Any) -> str:
    return str(browser.execute_script("return document.getElementById('flow-title').textContent"))


def painted(browser: Any, selector: str) -> int:
    """Return how many colours a canvas shows."""
    return int(
        browser.execute_script(
            """const c = document.querySelector(arguments[0]);
            const d = new Uint32Array(
              c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
            return new Set(d).size;""",
            selector,
        )
    )


def test_a_click_on_a_dot_opens_that_flow(browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    before = title(browser)
    dots = browser.find_elements("css selector", ".scatter g[aria-label='dot'] circle")
    assert len(dots) > 20
    lowest = max(dots, key=lambda dot: float(dot.get_attribute("cy")))
    browser.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", lowest
    )
    ActionChains(browser).move_to_element(lowest).pause(0.2).click().perform()
    wait(browser, lambda: title(browser) != before)
    tip = browser.execute_script(
        "return [...document.querySelectorAll('.scatter text')].map(t => t.textContent).join(' ')"
    )
    number = title(browser).split(":")[0].removeprefix("Flow ")
    assert f"flow {number}:" in tip, "the flow that the tip names is the one that is open"


def test_a_row_opens_its_flow_with_lanes_that_are_drawn(browser: Any) -> None:
    row = browser.find_elements("css selector", ".two tbody tr")[3]
    number = row.find_element("css selector", "td").text
    browser.execute_script("arguments[0].focus()", row)
    row.send_keys("\n")
    wait(browser, lambda: title(browser).startswith(f"Flow {number}:"))
    titles = [e.text for e in browser.find_elements("css selector", ".chart-title")]
    assert titles[0].startswith("subflow 0: window")
    assert any(text.startswith("links: share") for text in titles)
    assert titles[-1].startswith("goodput of all flows")
    for i in range(1, len(titles) + 1):
        assert painted(browser, f".timeline .chart:nth-child({i}) canvas") > 3


def test_all_charts_share_one_axis_of_time(browser: Any) -> None:
    buttons = browser.find_elements("css selector", ".buttons button")
    strip = browser.find_elements("css selector", ".timeline canvas")[-2]

    def image() -> str:
        return str(browser.execute_script("return arguments[0].toDataURL()", strip))

    near = image()
    browser.execute_script("arguments[0].click()", buttons[1])
    wait(browser, lambda: image() != near)
    browser.execute_script("arguments[0].click()", buttons[0])
    wait(browser, lambda: image() == near)


def test_headings_sort(browser: Any) -> None:
    column = (
        "return [...document.querySelectorAll('.two tbody tr')].map(r => r.cells[3].textContent)"
    )
    sizes = browser.find_elements("css selector", ".two th button")[3]
    assert sizes.text == "size"
    browser.execute_script("arguments[0].click()", sizes)
    largest = browser.execute_script(column)
    browser.execute_script("arguments[0].click()", sizes)
    smallest = browser.execute_script(column)
    units = {"B": 1.0, "KB": 1e3, "MB": 1e6}
    number = [[float(t.split()[0]) * units[t.split()[1]] for t in c] for c in (largest, smallest)]
    assert number[0] == sorted(number[0], reverse=True)
    assert number[1] == sorted(number[1])
    assert number[0][0] > number[1][0]


def test_dark_and_light(browser: Any) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    strip = "return document.querySelectorAll('.timeline canvas')[2].toDataURL()"
    seen = {(browser.execute_script(ground), browser.execute_script(strip))}
    browser.find_element("css selector", ".theme").click()
    wait(browser, lambda: browser.execute_script(ground) not in {one for one, _ in seen})
    seen.add((browser.execute_script(ground), browser.execute_script(strip)))
    assert len({picture for _, picture in seen}) == 2, "canvases follow"


def test_another_result_is_a_click_away(browser: Any) -> None:
    tabs = browser.find_elements("css selector", ".tabs button")
    assert [tab.text for tab in tabs] == ["amp", "shallow"]
    marked = "return document.querySelector('.card:nth-child(5)').textContent"
    before = browser.execute_script(marked)
    browser.execute_script("arguments[0].click()", tabs[1])
    wait(browser, lambda: browser.execute_script(marked) != before)
    links = browser.find_elements("css selector", ".fabric .link")
    assert len(links) == 96, "both directions of 48 cables"


def test_the_slowest_flow_is_explained(browser: Any) -> None:
    """The page was written with traces: it opens with the slowest flow, and says where it went."""
    text = browser.execute_script("return document.querySelector('.story').textContent")
    assert title(browser).split(":")[0] in text
    # It lost its SYN at a cable that was down, and had not ended when the run did.
    assert "It did not finish" in text
    assert "the run ends" in text


AXE = Path(__file__).parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def shown_at(browser: Any, width: int) -> None:
    """Show the page in a window of so many pixels across."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wait(browser, lambda: browser.execute_script("return screen.width") == width)
    browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 200))")


def require_no_violation(browser: Any) -> None:
    found = browser.execute_async_script("axe.run().then(arguments[0])")
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 30


@pytest.mark.parametrize("which", ["page", "study_page", "job_page", "served_page"])
def test_anybody_can_read_it(which: str, request: pytest.FixtureRequest) -> None:
    """axe-core finds no violation, in light and dark and at 390 pixels; paper is wide enough."""
    with opened(request.getfixturevalue(which)) as browser:
        if AXE.exists():
            browser.execute_script(AXE.read_text(encoding="utf-8"))
            for theme in ("light", "dark"):
                browser.execute_script(
                    "document.documentElement.dataset.theme = arguments[0]", theme
                )
                require_no_violation(browser)
        browser.execute_script("delete document.documentElement.dataset.theme")
        shown_at(browser, 390)
        if AXE.exists():
            require_no_violation(browser)
        assert browser.execute_script("return document.documentElement.scrollWidth") == 390
        printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
        assert base64.b64decode(printed["data"]).startswith(b"%PDF")
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        gone = "return [...document.querySelectorAll('button')].filter(b => b.offsetParent).length"
        headings = "return document.querySelectorAll('.scroll th button').length"
        assert browser.execute_script(gone) == browser.execute_script(headings), "no other button"
    if not AXE.exists():
        pytest.skip("axe-core was not asked, as it is not installed: npm ci in web/")


COUNTED = """
const [canvas, names] = arguments;
const style = getComputedStyle(document.documentElement);
const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
const counts = names.map(() => 0);
const wanted = names.map(name => parseInt(style.getPropertyValue(`--${name}`).trim().slice(1), 16));
for (let i = 0; i < data.length; i += 4) {
  const at = wanted.indexOf(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  if (at >= 0) counts[at] += 1;
}
return counts;
"""
"""How many pixels of a canvas have each of some colours of the style sheet."""


def test_ranks_are_drawn_and_an_iteration_can_be_looked_at(job_page: Path) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    with opened(job_page) as browser:
        titles = [e.text for e in browser.find_elements("css selector", ".chart-title")]
        number = next(i for i, text in enumerate(titles) if text.startswith("ranks of train"))
        chart = browser.find_elements("css selector", ".timeline .chart")[number]
        canvas = chart.find_element("css selector", "canvas")
        keys = [e.text for e in browser.find_elements("css selector", ".timeline .key")]
        assert len(keys) == 6, keys
        image = "return arguments[0].toDataURL()"
        whole = browser.execute_script(image, canvas)
        kinds = ("series-0", "series-1", "series-4", "idle", "series-2", "series-6")
        counts = browser.execute_script(COUNTED, canvas, kinds)
        assert all(count > 50 for count in counts), dict(zip(kinds, counts, strict=True))
        items = [e.text for e in browser.find_elements("css selector", "section li")]
        assert "train: rank 5 computes 2 times as long from iteration 1 on" in items
        # Iterations are rows: one is chosen by keyboard, and the address says so.
        rows = browser.find_elements("css selector", "tr.choice")
        first = [row for row in rows if row.text.startswith("train 1 ")]
        browser.execute_script("arguments[0].focus()", first[0])
        first[0].send_keys("\n")
        wait(browser, lambda: browser.execute_script(image, canvas) != whole)
        place = browser.execute_script("return location.hash")
        start, end = (float(part.split("=")[1]) for part in place.split("&")[-2:])
        assert 0 < start < 5e-3 < end
        # What is under the pointer is said.
        over = chart.find_element("css selector", ".u-over")
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
        ActionChains(browser).move_to_element(over).pause(0.2).move_by_offset(3, -40).perform()
        said = chart.find_element("xpath", "following-sibling::p")
        wait(browser, lambda: said.text.startswith("rank "))
        assert ", iteration " in said.text


def test_requests_are_drawn_and_one_can_be_looked_at(served_page: Path) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    with opened(served_page) as browser:
        titles = [e.text for e in browser.find_elements("css selector", ".chart-title")]
        number = next(i for i, text in enumerate(titles) if text.startswith("requests of chat"))
        chart = browser.find_elements("css selector", ".timeline .chart")[number]
        canvas = chart.find_element("css selector", "canvas")
        keys = [e.text for e in browser.find_elements("css selector", ".timeline .key")]
        assert keys[-1] == "first token"
        assert len(keys) == 6, keys
        image = "return arguments[0].toDataURL()"
        whole = browser.execute_script(image, canvas)
        kinds = ("idle", "series-0", "series-4", "series-3", "series-2", "ink")
        counts = browser.execute_script(COUNTED, canvas, kinds)
        assert all(count > 20 for count in counts), dict(zip(kinds, counts, strict=True))
        # The mean time to the first token and its parts stand in the table below the bars.
        rows = [e.text for e in browser.find_elements("css selector", ".bands + .scroll tbody tr")]
        assert [row.split(" ")[0] for row in rows] == ["all", "fastest", "50%", "slowest"]
        bars = browser.find_elements("css selector", ".bands g[aria-label=bar] rect")
        assert len(bars) == 4 * 4
        # Requests are rows: the slowest is chosen by keyboard, and the address says so.
        row = browser.find_elements("css selector", ".served tr.choice")[0]
        browser.execute_script("arguments[0].focus()", row)
        row.send_keys("\n")
        wait(browser, lambda: browser.execute_script(image, canvas) != whole)
        place = browser.execute_script("return location.hash")
        assert "from=" in place
        assert "to=" in place
        # The pointer says which request is under it, and what it does.
        over = chart.find_element("css selector", ".u-over")
        browser.execute_script(
            "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", over
        )
        ActionChains(browser).move_to_element_with_offset(over, 0, 2).perform()
        said = "return [...document.querySelectorAll('.timeline .said')].map(p => p.textContent)"
        wait(browser, lambda: any(browser.execute_script(said)))
        told = next(text for text in browser.execute_script(said) if text)
        assert re.match(
            r"request \d+, prefill on h\d, decode on h\d: [a-z, ]+, [\d.]+ [mµ]?s; ", told
        )


def test_a_table_of_arms_says_what_terminal_markdown_and_notebook_say(tmp_path: Path) -> None:
    """Intervals by their ends or as a share, ratios, seeds, bounds, and why there is no value."""
    (tmp_path / "a.toml").write_text(SCENARIO.replace("300ms", "1ms"), encoding="utf-8")
    text = """
        base = "a.toml"
        seeds = 3
        measures = ["slowdown.p50", "fct@all", "goodput.mean", "timeouts.total", "loss@all"]
        report = true
        arm = [{ name = "deep" }, { name = "shallow", set = { queue.limit = 8 } }]
    """
    made = Study.parse(text, tmp_path / "s.toml").run(tmp_path / "out")
    comparison = Comparison(made.statistics, tuple(made.study.keys), made.study.reference)
    expected = cells(comparison)
    texts = """return [...document.querySelectorAll(".compare tbody tr")].map((row) =>
        [...row.querySelectorAll("td")].map((cell) =>
            [...cell.childNodes].map((part) => part.textContent).filter(Boolean).join(" ")))"""
    with opened(made.dir / "report.html") as browser:
        shown = browser.execute_script(texts)
        assert shown == expected["terminal"] == expected["markdown"] == expected["notebook"]
        for part, least in (("(", 5), ("±", 2), ("×", 3), ("≥", 1), ("needs", 1), ("in 3 of 3", 1)):
            assert sum(part in text for row in shown for text in row) >= least, part
        below = browser.find_elements("css selector", ".compare .quiet")[-1].text
        for note in (*comparison.legend(3), *comparison.notes()):
            assert note.startswith("n: ") or f"{note[:1].upper()}{note[1:]}." in below


def test_paper_is_light(browser: Any) -> None:
    theme = "return document.documentElement.dataset.theme ?? null"
    browser.execute_script("document.documentElement.dataset.theme = 'dark'")
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script(theme) == "light"
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert browser.execute_script(theme) == "dark"


def test_a_link_leads_to_a_flow_and_a_moment(browser: Any, page: Path) -> None:
    row = browser.find_elements("css selector", ".two tbody tr")[4]
    number = row.find_element("css selector", "td").text
    browser.execute_script("arguments[0].click()", row)
    place = browser.execute_script("return location.hash")
    assert place == f"#result=amp&flow={number}"
    browser.get("about:blank")
    browser.get(f"{page.as_uri()}#result=shallow&flow={number}&from=0.0001&to=0.0003")
    wait(browser, lambda: title(browser).startswith(f"Flow {number}:"))
    current = browser.find_element("css selector", ".tabs [aria-current]").text
    assert current == "shallow"
    buttons = browser.find_elements("css selector", ".buttons button")
    browser.execute_script("arguments[0].click()", buttons[1])
    end = browser.execute_script("return location.hash").split("&to=")[1]
    assert float(end) == pytest.approx(0.302)


def test_arms_can_be_switched_and_a_measure_without_values_is_not_the_first(
    study_page: Path,
) -> None:
    with opened(study_page) as browser:
        chosen = "return document.querySelector('.compare .chosen th').textContent"
        assert browser.execute_script(chosen) == "goodput mean"
        dots = "return document.querySelectorAll('.interval g[aria-label=dot] > *').length"
        wait(browser, lambda: browser.execute_script(dots) == 2)
        arm = browser.find_elements("css selector", ".compare thead button")[1]
        browser.execute_script("arguments[0].click()", arm)
        wait(browser, lambda: browser.execute_script(dots) == 1)
        assert arm.get_attribute("aria-pressed") == "false"
        row = browser.find_elements("css selector", ".compare tbody tr")[-1]
        browser.execute_script("arguments[0].focus()", row)
        row.send_keys("\n")
        wait(browser, lambda: browser.execute_script(chosen) == "timeouts total")


SIZES = """
duration = "1ms"
drain = "100ms"
topology.many-to-one = { senders = 4, rate = "10Gbps", delay = "1us" }
queue = { limit = 100, mark = 20 }
transport.t.control = "dctcp"
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_labels_of_charts_are_whole_and_do_not_touch(tmp_path: Path, width: int) -> None:
    """Names of arms that differ in their last word, and sizes that are close to each other."""
    text = SIZES + "".join(
        f'[[workload.flow]]\ntransport = "t"\nfrom = "S{i}"\nto = "R"\nsize = "{size}"\n'
        for i, size in enumerate(("500KB", "600KB", "650KB", "2MB"), 1)
    )
    (tmp_path / "a.toml").write_text(text, encoding="utf-8")
    arms = ", ".join(
        f'{{ name = "a transport with marks from {mark} on", set.queue.mark = {mark} }}'
        for mark in (10, 20)
    )
    study = f'base = "a.toml"\nmeasures = ["fct.mean@all"]\nreport = true\narm = [{arms}]'
    made = Study.parse(study, tmp_path / "s.toml").run(tmp_path / "out")
    boxes = """return [...document.querySelectorAll(arguments[0])].map((text) => {
        const box = text.getBoundingClientRect();
        const chart = text.closest("svg").getBoundingClientRect();
        return [text.textContent, box.left - chart.left, box.right - chart.left, chart.width];
    })"""
    with opened(made.dir / "report.html") as browser:
        # A window of Chromium may be wider than it was told to be; a frame is not.
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
        )
        browser.refresh()
        names = ".interval g[aria-label='y-axis tick label'] text"
        wait(browser, lambda: len(browser.execute_script(boxes, names)) == 2)
        found = browser.execute_script(boxes, names)
        for (name, left, right, wide), mark in zip(found, (10, 20), strict=True):
            # Lines of a broken name have no blank between them.
            assert name.replace(" ", "") == f"atransportwithmarksfrom{mark}on"
            assert 0 <= left < right <= wide
        sizes = browser.execute_script(boxes, ".scatter g[aria-label='x-axis tick label'] text")
        shown = [label for label, *_ in sizes]
        assert {shown[0], shown[-1]} == {"500 KB", "2 MB"}
        edges = sorted((left, right) for _, left, right, _ in sizes)
        assert all(before[1] < after[0] for before, after in pairwise(edges))
        assert edges[0][0] >= 0
        assert edges[-1][1] <= sizes[0][3]


WRITTEN = """
    window.written = [];
    const fill = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      window.written.push(text);
      return fill.call(this, text, ...rest);
    };
"""


@pytest.mark.parametrize(
    ("first", "last", "apart"),
    [("0.0003", "0.0029", 0.25), ("0.0003", "0.0012", 0.1), ("0.000300", "0.000326", 2.5)],
)
def test_times_below_charts_are_written_in_full(
    page: Path, first: str, last: str, apart: float
) -> None:
    """Steps of 0.25 ms or 2.5 us need a digit more than their size says."""
    with opened(page) as browser:
        source = {"source": WRITTEN}
        added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", source)
        browser.get(f"{page.as_uri()}#from={first}&to={last}")
        browser.refresh()
        wait(browser, lambda: browser.execute_script(CHARTS) > 0)
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
        times = re.compile(r"([\d.]+) (ms|µs)")
        texts = browser.execute_script("return window.written")
        shown = sorted({float(found[1]) for text in texts if (found := times.fullmatch(text))})
        steps = {round(after - before, 9) for before, after in pairwise(shown)}
        assert steps == {apart}


def test_all_settings_of_an_arm_have_its_colour(tmp_path: Path) -> None:
    text = f'{SIZES}[[workload.flow]]\ntransport = "t"\nfrom = "S1"\nto = "R"\nsize = "500KB"\n'
    (tmp_path / "a.toml").write_text(text, encoding="utf-8")
    arms = '[{ name = "a" }, { name = "b", set.transport.t.control = "reno" }]'
    study = f'base = "a.toml"\nmeasures = ["fct.mean@all"]\nreport = true\narm = {arms}\n'
    study += "vary = { queue.mark = [10, 20] }"
    made = Study.parse(study, tmp_path / "s.toml").run(tmp_path / "out")
    fills = """return [...document.querySelectorAll(".interval g[aria-label=dot] > *")].map(
        (dot) => dot.getAttribute("fill"))"""
    with opened(made.dir / "report.html") as browser:
        wait(browser, lambda: len(browser.execute_script(fills)) == 4)
        first, second, third, fourth = browser.execute_script(fills)
        assert first == second != third == fourth

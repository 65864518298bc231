"""The report in a real browser: no error, what is clicked appears, in dark and light."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import linkpool
from linkpool.report.page import write_report
from linkpool.study.arms import arms_of

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


@pytest.fixture
def browser(page: Path) -> Iterator[Any]:
    """Open the page; at the end nothing may have been complained of."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait

    options: Any = Options()
    options.binary_location = str(BROWSER)
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,1000")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver: Any = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        driver.get(page.as_uri())
        WebDriverWait(driver, 120).until(
            lambda d: d.execute_script("return document.body.dataset.ready") == "true"
        )
        WebDriverWait(driver, 120).until(lambda d: d.execute_script(CHARTS) > 0)
        yield driver
        assert driver.get_log("browser") == []
        fetched = driver.execute_script("return performance.getEntriesByType('resource').length")
        assert fetched == 0, "the page needs no network"
    finally:
        driver.quit()


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

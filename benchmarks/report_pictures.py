"""Take the pictures of the report for the documentation from the study of the tutorial.

    python benchmarks/report_pictures.py [--out DIR]

It runs docs/cookbook/transports.toml and opens its page in Chromium: `report.png` is the first
screen of the page, `tutorial-flow.png` the slowest flow of AMP, opened.
"""

import argparse
import base64
import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from linkpool.study import Study

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "docs" / "cookbook" / "transports.toml"
WIDTH = 1200
"""Of the window, in pixels."""


def opened(page: Path) -> Any:
    """Open a page, and wait until it is drawn."""
    options: Any = Options()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={WIDTH},2000")
    driver: Any = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.get(page.as_uri())
    WebDriverWait(driver, 120).until(
        lambda d: d.execute_script("return document.querySelectorAll('.timeline .uplot').length")
    )
    return driver


def section(driver: Any, name: str) -> Any:
    """Return the section with this heading."""
    return driver.find_element("xpath", f"//section[h2[normalize-space()='{name}']]")


def main() -> None:
    """Take both pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "img")
    out = parser.parse_args().out
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Study.load(STUDY).run(folder).dir / "report.html"
        driver = opened(page)
        try:
            driver.find_element("xpath", "//nav//button[normalize-space()='amp-4']").click()
            bottom = section(driver, "Which flows were slow").rect
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": bottom["y"] + bottom["height"] + 16}
            take(driver, clip, out / "report.png")
            window = section(driver, "Over time")
            head = window.find_element("css selector", ".flow-head").rect
            top = head["y"] - 12
            height = window.rect["y"] + window.rect["height"] - top
            take(driver, {**window.rect, "y": top, "height": height}, out / "tutorial-flow.png")
        finally:
            driver.quit()


def take(driver: Any, clip: dict[str, float], file: Path) -> None:
    """Write a part of the page as a picture."""
    shot = driver.execute_cdp_cmd(
        "Page.captureScreenshot",
        {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True},
    )
    image = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    image.quantize(256, Image.Quantize.FASTOCTREE).save(file, optimize=True)


if __name__ == "__main__":
    main()

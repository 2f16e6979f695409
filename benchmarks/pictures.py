"""Pictures of the page while the demo web is crawled, for review and for the docs.

    python -m benchmarks.pictures FOLDER [--seconds 40] [--browser /usr/bin/chromium]

The desktop in English and Chinese, light and dark, and a telephone in both languages. Needs
playwright (``topiccrawl[js]``), a Chromium and fonts that know Chinese.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lab.demo.crawl import command
from lab.demo.server import DemoServer
from lab.demo.web import generate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

PORT = 8429
PAGES = 3_000
SETTINGS = {
    "TOPICCRAWL_DASHBOARD": str(PORT), "TOPICCRAWL_DASHBOARD_TOKEN": "off",
    "TOPICCRAWL_ADAPTATION": "words",
    "TOPICCRAWL_NEWS_FILTER": "1", "DOWNLOAD_DELAY": "0.25", "TOPICCRAWL_RETRY_DELAY": "5",
    "LOG_LEVEL": "WARNING",
}  # fmt: skip


class Shot(NamedTuple):
    """One picture."""

    name: str
    locale: str
    scheme: str
    width: int
    height: int
    scale: float
    place: str = ""
    ready: str = ".row .title"


SHOTS = (
    Shot("dashboard", "en-GB", "light", 1360, 1080, 1.5),
    Shot("dashboard-zh", "zh-CN", "light", 1360, 1080, 1.5),
    Shot("dashboard-dark", "zh-CN", "dark", 1360, 2250, 1.0),
    Shot("crawls", "en-GB", "light", 1360, 460, 1.0, "crawls", "#crawl-rows tr"),
    Shot("articles", "zh-CN", "light", 1360, 900, 1.0, "articles", "#rows .open"),
    Shot("dashboard-phone", "zh-CN", "light", 390, 844, 2.0),
    Shot("dashboard-phone-dark", "en-GB", "dark", 390, 844, 2.0),
)


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=40.0, help="of crawling before")
    parser.add_argument("--browser", default=shutil.which("chromium") or "")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with crawling():
        time.sleep(options.seconds)
        take(options.folder, options.browser)


@contextmanager
def crawling() -> Iterator[None]:
    """A crawl of the demo web behind the page."""
    web = generate(1, PAGES)
    with tempfile.TemporaryDirectory() as folder, DemoServer(web) as server:
        given = [part for name, value in SETTINGS.items() for part in ("-s", f"{name}={value}")]
        line = command(web, Path(folder), given)
        environment = {"http_proxy": server.proxy, "SCRAPY_SETTINGS_MODULE": "topiccrawl.settings"}
        process = subprocess.Popen(line, env=environment)
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def take(folder: Path, browser: str) -> None:
    """Write the pictures as PNG files."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    with sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        chromium = driver.chromium.launch(executable_path=browser or None, args=options)
        for shot in SHOTS:
            _take(chromium, shot, folder / f"{shot.name}.png")
        chromium.close()


def _take(chromium: Browser, shot: Shot, path: Path) -> None:
    phone = shot.width < 600  # noqa: PLR2004
    context = chromium.new_context(
        locale=shot.locale, color_scheme=shot.scheme, device_scale_factor=shot.scale,
        viewport={"width": shot.width, "height": shot.height}, is_mobile=phone, has_touch=phone,
    )  # fmt: skip
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{PORT}/{shot.place}")
    page.locator(shot.ready).first.wait_for()
    if shot.place == "articles":
        page.locator(shot.ready).first.click()
        page.locator("#reading .text p").first.wait_for()
    page.wait_for_timeout(1_500)
    page.screenshot(path=path)
    print(f"{path}  {path.stat().st_size / 1000:.0f} kB")
    context.close()


if __name__ == "__main__":
    main()

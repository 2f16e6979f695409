"""Pictures of the page while the demo web is crawled, for review and for the docs.

    python -m benchmarks.pictures docs/images [--seconds 24] [--browser /usr/bin/chromium]

The desktop in English and Chinese, the articles, all crawls and a telephone. ``crawl.gif`` shows
the page while the crawl runs. Needs playwright (``topiccrawl[js]``), Pillow, a Chromium and fonts
that know Chinese.
"""

from __future__ import annotations

import argparse
import io
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.processes import environment
from lab.demo.crawl import command, options
from lab.demo.server import DemoServer
from lab.demo.web import generate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL.Image import Image
    from playwright.sync_api import Browser, BrowserContext

PORT = 8429
PAGES = 6_000
SETTINGS = {
    "TOPICCRAWL_DASHBOARD": str(PORT), "TOPICCRAWL_DASHBOARD_TOKEN": "off",
    "TOPICCRAWL_ADAPTATION": "words", "TOPICCRAWL_EVENTS": "7",
    "TOPICCRAWL_NEWS_FILTER": "1", "DOWNLOAD_DELAY": "0.25", "TOPICCRAWL_RETRY_DELAY": "5",
    "LOG_LEVEL": "WARNING",
}  # fmt: skip


class Shot(NamedTuple):
    """One picture."""

    name: str
    locale: str
    width: int
    height: int
    scale: float
    place: str = ""
    ready: str = ".row .title"


SHOTS = (
    Shot("dashboard", "en-GB", 1360, 1080, 1.5),
    Shot("dashboard-zh", "zh-CN", 1360, 1080, 1.5),
    Shot("crawls", "en-GB", 1360, 460, 1.0, "crawls", "#crawl-rows tr"),
    Shot("articles", "zh-CN", 1360, 1080, 1.0, "articles?q=动力电池", "#rows .open"),
    Shot("dashboard-phone", "zh-CN", 390, 844, 2.0),
)
FILM = Shot("crawl", "en-GB", 1200, 900, 1.0)
FRAMES = 10
WIDTH = 800
"""Width of the film in pixels."""
COLOURS = 128
"""Colours of a picture; text stays sharp, and the file has a third of the size."""


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=24.0, help="of crawling, filmed")
    parser.add_argument("--browser", default=shutil.which("chromium") or "")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with crawling(), browsing(given.browser) as chromium:
        film(chromium, given.folder / f"{FILM.name}.gif", given.seconds / FRAMES)
        for shot in SHOTS:
            take(chromium, shot, given.folder / f"{shot.name}.png")


@contextmanager
def crawling() -> Iterator[None]:
    """Run the crawl of the demo web that the page shows."""
    web = generate(1, PAGES)
    with tempfile.TemporaryDirectory() as folder, DemoServer(web) as server:
        line = command(web, Path(folder), options(SETTINGS))
        process = subprocess.Popen(line, env=environment(server.proxy))
        try:
            _wait_for_page(process)
            yield
        finally:
            process.terminate()
            process.wait(30)


def _wait_for_page(process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", PORT), timeout=1):
            return
        time.sleep(0.2)
    raise SystemExit("the crawl ended before its page could be asked for")


@contextmanager
def browsing(browser: str) -> Iterator[Browser]:
    """Run Chromium without a window."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    with sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        yield driver.chromium.launch(executable_path=browser or None, args=flags)


def film(chromium: Browser, path: Path, pause: float) -> None:
    """Write a moving picture of the page from the crawl's first articles on."""
    from PIL import Image  # noqa: PLC0415 - no dependency of the project

    context = _context(chromium, FILM)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{PORT}/")
    page.locator(FILM.ready).first.wait_for(timeout=120_000)
    frames = []
    for _ in range(FRAMES):
        page.wait_for_timeout(pause * 1_000)
        frames.append(_picture(page.screenshot(), WIDTH))
    # One palette: a frame holds only what changed, half the size. Octrees keep rare colours.
    palette = frames[-1].quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=0)
    frames = [one.quantize(palette=palette, dither=0) for one in frames]
    lasting = [900] * (FRAMES - 1) + [2_500]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=lasting, loop=0)
    print(f"{path}  {path.stat().st_size / 1000:.0f} kB")
    context.close()


def take(chromium: Browser, shot: Shot, path: Path) -> None:
    """Write a picture as a PNG file."""
    context = _context(chromium, shot)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{PORT}/{shot.place}")
    page.locator(shot.ready).first.wait_for()
    if shot.name == "articles":
        page.locator(shot.ready).first.click()
        page.locator("#reading .text p").first.wait_for()
        page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(1_500)
    _picture(page.screenshot()).quantize(COLOURS, dither=0).save(path, optimize=True)
    print(f"{path}  {path.stat().st_size / 1000:.0f} kB")
    context.close()


def _context(chromium: Browser, shot: Shot) -> BrowserContext:
    phone = shot.width < 600  # noqa: PLR2004
    return chromium.new_context(
        locale=shot.locale, color_scheme="light", device_scale_factor=shot.scale,
        viewport={"width": shot.width, "height": shot.height}, is_mobile=phone, has_touch=phone,
    )  # fmt: skip


def _picture(png: bytes, width: int = 0) -> Image:
    """Return a picture scaled to a width."""
    from PIL import Image  # noqa: PLC0415 - no dependency of the project

    image = Image.open(io.BytesIO(png)).convert("RGB")
    if width:
        size = (width, round(image.height * width / image.width))
        image = image.resize(size, Image.Resampling.LANCZOS)
    return image


if __name__ == "__main__":
    main()

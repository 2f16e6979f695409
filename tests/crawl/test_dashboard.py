"""The page in a real Chromium: a crawl that runs, and what the web may have written."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.run import log_of, start
from topiccrawl.demo.server import DemoServer
from topiccrawl.demo.web import generate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROWSER = os.environ.get("TOPICCRAWL_TEST_BROWSER") or shutil.which("chromium") or ""

pytestmark = [
    pytest.mark.crawl,
    pytest.mark.browser,
    pytest.mark.skipif(not find_spec("playwright"), reason="topiccrawl[js] not installed"),
    pytest.mark.skipif(not BROWSER, reason="no chromium in PATH or TOPICCRAWL_TEST_BROWSER"),
]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    with sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu"]
        one = driver.chromium.launch(executable_path=BROWSER, args=options)
        try:
            yield one
        finally:
            one.close()


@contextmanager
def crawl(data: Path, pages: int = 400) -> Iterator[str]:
    """The page of a crawl of the demo web that takes its time."""
    port = free_port()
    web = generate(1, pages)
    with DemoServer(web) as server:
        process = start(
            server.proxy, data, "crawl", "topic", "-a", f"topic={web.topic}",
            "-a", f"seeds={','.join(web.seeds)}",
            TOPICCRAWL_DASHBOARD=str(port), DOWNLOAD_DELAY="0.4", TOPICCRAWL_ADAPTATION="words",
            CONCURRENT_REQUESTS_PER_DOMAIN="1",
        )  # fmt: skip
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(20)


def patiently(page: Any, url: str) -> None:
    """Open the page as soon as it is there."""
    end = time.monotonic() + 20
    while True:
        try:
            page.goto(url)
        except Exception as error:
            if "ERR_CONNECTION_REFUSED" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return


def test_a_crawl_is_followed_paused_and_read_on_a_telephone(tmp_path: Path) -> None:
    troubles: list[str] = []
    with crawl(tmp_path / "data") as url, browser() as chromium:
        page = chromium.new_page(locale="en-GB", viewport={"width": 1360, "height": 900})
        page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        patiently(page, url)
        row = page.locator(".row .title").first
        row.wait_for(timeout=15_000)
        assert page.locator("#topic").inner_text() == "新能源汽车"
        assert page.locator("#harvest-plot canvas").count() == 1
        before = int(page.locator(".tile .value").nth(1).inner_text())
        page.locator("[data-act=pause]").click()
        page.locator("[data-act=resume]").wait_for(timeout=5_000)
        assert "Paused" in page.locator("#notice").inner_text()
        paused = int(page.locator(".tile .value").nth(1).inner_text())
        assert paused >= before
        page.locator("[data-act=resume]").click()
        page.locator("[data-act=pause]").wait_for(timeout=5_000)
        more = "n => Number(document.querySelectorAll('.tile .value')[1].textContent) > n"
        page.wait_for_function(more, arg=paused + 5, timeout=10_000)
        page.locator("#theme").click()
        assert page.locator("html").get_attribute("data-theme") == "dark"
        phone = chromium.new_page(locale="zh-CN", viewport={"width": 390, "height": 844})
        phone.on("pageerror", lambda error: troubles.append(str(error)))
        phone.goto(url)
        phone.locator(".row .title").first.wait_for(timeout=10_000)
        assert phone.locator("h2").first.inner_text() == "收获率"
        assert phone.locator("html").get_attribute("lang") == "zh-CN"
        width = phone.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, "the page must not scroll sideways"
        small = phone.evaluate(
            "[...document.querySelectorAll('button, select')].filter(one => "
            "one.offsetHeight && one.offsetHeight < 28).length"
        )
        assert small == 0
    assert troubles == [], log_of(tmp_path / "data").read_text()[-2000:]


@pytest.mark.parametrize("words", [re.compile("TOPICCRAWL_DASHBOARD")])
def test_a_wrong_address_is_said_before_the_crawl(tmp_path: Path, words: re.Pattern[str]) -> None:
    process = start(
        "", tmp_path / "data", "crawl", "topic", "-a", "topic=足球", TOPICCRAWL_DASHBOARD="here"
    )
    assert process.wait(30) == 2
    assert words.search(log_of(tmp_path / "data").read_text())

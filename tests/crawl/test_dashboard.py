"""Tests of the dashboard of a running crawl in a real Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from lab.demo.server import DemoServer
from lab.demo.web import generate
from tests.crawl.run import log_of, run, running
from tests.ports import free_port
from tests.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = PATIENCE * 1000
"""Milliseconds."""
BROWSER = os.environ.get("TOPICCRAWL_TEST_BROWSER") or shutil.which("chromium") or ""

pytestmark = [
    pytest.mark.crawl,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not find_spec("playwright"), reason="no scrapy-playwright: pip install -e '.[js]'"
    ),
    pytest.mark.skipif(
        not BROWSER,
        reason="no chromium in PATH or TOPICCRAWL_TEST_BROWSER: apt-get install chromium",
    ),
]


@contextmanager
def browser(*more: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    with sync_playwright() as driver:
        options = ["--no-sandbox", "--disable-gpu", *more]
        one = driver.chromium.launch(executable_path=BROWSER, args=options, timeout=LONG)
        try:
            yield one
        finally:
            one.close()


@contextmanager
def crawl(data: Path, pages: int = 400) -> Iterator[str]:
    """Run a slow crawl of the demo web; yield the URL of its dashboard."""
    port = free_port()
    web = generate(1, pages)
    with DemoServer(web) as server, running(
        server.proxy, data, "crawl", "topic", "-a", f"topic={web.topic}",
        "-a", f"seeds={','.join(web.seeds)}",
        TOPICCRAWL_DASHBOARD=str(port), DOWNLOAD_DELAY="0.4", TOPICCRAWL_ADAPTATION="words",
        CONCURRENT_REQUESTS_PER_DOMAIN="1", TOPICCRAWL_REPORT=str(data / "reports"),
        TOPICCRAWL_LOG_JSON="1",
    ) as process:  # fmt: skip
        shown = re.compile(r"Dashboard: (http[\w:/.?=-]+)")
        until(lambda: shown.search(log_of(data).read_text()))
        yield shown.findall(log_of(data).read_text())[0]
        process.terminate()
        process.wait(PATIENCE)


def open_when_ready(page: Any, url: str) -> None:
    """Open the page as soon as its server accepts connections."""
    until(lambda: accepts_connections(url))
    page.goto(url)


def accepts_connections(url: str) -> bool:
    address = urlsplit(url)
    with socket.socket() as one:
        return one.connect_ex((address.hostname, address.port)) == 0


def check_on_desktop(page: Any, url: str) -> None:
    """Read the page of a running crawl, pause and resume it, switch to the dark theme."""
    open_when_ready(page, url)
    page.locator(".row .title").first.wait_for(timeout=LONG)
    assert page.locator("#topic").inner_text() == "新能源汽车"
    assert page.locator("#harvest-plot canvas").count() == 1
    pages = page.locator(".tile .value").nth(1)
    before = int(pages.inner_text())
    page.locator("[data-act=pause]").click()
    page.locator("[data-act=resume]").wait_for(timeout=LONG)
    assert "Paused" in page.locator("#notice").inner_text()
    paused = int(pages.inner_text())
    assert paused >= before
    page.locator("[data-act=resume]").click()
    page.locator("[data-act=pause]").wait_for(timeout=LONG)
    more = "n => Number(document.querySelectorAll('.tile .value')[1].textContent) > n"
    page.wait_for_function(more, arg=paused + 5, timeout=LONG)
    page.locator("#theme").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"


def check_on_phone(page: Any, url: str) -> None:
    """Check the Chinese page at the width of a phone."""
    page.goto(url)
    page.locator(".row .title").first.wait_for(timeout=LONG)
    assert page.locator("h2").first.inner_text() == "收获率"
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390, "the page must not scroll sideways"
    small = page.evaluate(
        "[...document.querySelectorAll('button, select')].filter(one => "
        "one.offsetHeight && one.offsetHeight < 28).length"
    )
    assert small == 0
    page.locator("#language").click()
    assert page.locator("h2").first.inner_text() == "Harvest rate"
    right = "Math.max(...[...document.querySelectorAll('.tools *')].map(one => "
    assert page.evaluate(f"{right}one.getBoundingClientRect().right))") <= 390


def test_dashboard_works_on_desktop_and_phone_and_is_reported(tmp_path: Path) -> None:
    data, problems = tmp_path / "data", list[str]()
    with crawl(data) as url, browser() as chromium:
        desk = chromium.new_page(locale="en-GB", viewport={"width": 1360, "height": 900})
        phone = chromium.new_page(locale="zh-CN", viewport={"width": 390, "height": 844})
        for page, check in ((desk, check_on_desktop), (phone, check_on_phone)):
            page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
            page.on("pageerror", lambda error: problems.append(str(error)))
            check(page, url)
    log = log_of(data).read_text()
    assert problems == [], log[-2000:]
    (report,) = (data / "reports").glob("*.html")
    assert "</html>" in report.read_text()
    entries = [json.loads(line) for line in log.splitlines() if line.startswith('{"time"')]
    assert any("paused by the operator" in line["message"] for line in entries)
    assert {line["topic"] for line in entries} == {"新能源汽车"}


@pytest.mark.parametrize("words", [re.compile("TOPICCRAWL_DASHBOARD")])
def test_invalid_address_is_reported_before_the_crawl(
    tmp_path: Path, words: re.Pattern[str]
) -> None:
    status, out = run(
        "", tmp_path / "data", "crawl", "topic", "-a", "topic=足球", TOPICCRAWL_DASHBOARD="here"
    )
    assert status == 2
    assert words.search(out)

"""Tests of the crawl's page: contrast, keyboard, width, long texts, ended crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.crawl.test_dashboard import (
    LONG,
    browser,
    pytestmark,  # noqa: F401 - marks this file, too
)
from tests.crawl.test_page import StubSource, article, hostile_source, served
from tests.unit.addons.dashboard.states import state
from tests.unit.addons.dashboard.test_report import wild
from topiccrawl.addons.dashboard.reporting import report_page

if TYPE_CHECKING:
    from pathlib import Path

NOTHING: dict[str, Any] = {"chains": [], "changes": [], "learnt": [], "patterns": []}
CONTROL = {"name": "nev", "paused": False, "speed": 1.0}
LONG_TEXT = "新能源汽车与动力电池产业链" * 20 + "WordWithoutAnyBreak" * 20

LOW_CONTRAST = """() => {
  const parse = (text) => {  // rgb(), rgba() and color(srgb)
    const found = text.match(/[\\d.]+/g).map(Number), many = text.startsWith('color') ? 255 : 1;
    return [...found.slice(0, 3).map((one) => one * many), found[3] ?? 1];
  };
  const under = (one) => {
    for (; one; one = one.parentElement) {
      const found = parse(getComputedStyle(one).backgroundColor);
      if (found[3] > 0.99) return found;
    }
    return [255, 255, 255, 1];
  };
  const light = (c) => c.slice(0, 3).map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  return [...document.querySelectorAll('body *')]
    .filter((one) => [...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .filter((one) => one.offsetParent && !one.closest('svg, option'))
    .map((one) => [light(parse(getComputedStyle(one).color)), light(under(one)), one])
    .map(([text, ground, one]) => [contrast(text, ground), one])
    .filter(([found]) => found < 4.5)
    .map(([found, one]) => found.toFixed(2) + ' ' + one.className + ' ' + one.textContent);
}"""
"""Script for texts with less contrast than WCAG AA requires of small texts."""
NAMELESS = """() => [...document.querySelectorAll('button, select, a, [tabindex]')]
  .filter((one) => one.offsetParent)
  .filter((one) => !(one.getAttribute('aria-label') || one.title || one.textContent).trim())
  .map((one) => one.outerHTML)"""
NO_KEYBOARD = """() => [...document.querySelectorAll('main *')]
  .filter((one) => /auto|scroll/.test(getComputedStyle(one).overflowY))
  .filter((one) => one.scrollHeight > one.clientHeight + 1 && one.tabIndex < 0)
  .map((one) => one.outerHTML.slice(0, 90))"""
"""Script for elements that scroll, but not by keyboard."""


def full() -> StubSource:
    """Return a source with data for every card, many of them long."""
    source = hostile_source()
    current = source.current
    current["run"]["topic"] = LONG_TEXT
    current["control"] = CONTROL
    current["errors"] = {LONG_TEXT: 3_000_000, "robots": 1}
    current["queues"] = dict.fromkeys(current["queues"], 12_345_678)
    (host,) = current["hosts"]["list"][:1]
    kinds = ("fetching", "ready", "waiting", "robots", "failing", "idle")
    current["hosts"] = {
        "states": dict.fromkeys(kinds, 9),
        "list": [{**host, "name": LONG_TEXT, "state": kinds[n % 6]} for n in range(50)],
    }
    source.listed = [article("http://a.test/1", LONG_TEXT, LONG_TEXT) for _ in range(80)]
    return source


def test_texts_are_legible_and_fit_and_controls_have_names() -> None:
    with served(full()) as url, browser() as chromium:
        for scheme, width in (("light", 390), ("dark", 1360)):
            page = chromium.new_page(
                viewport={"width": width, "height": 844},
                color_scheme=scheme,
                reduced_motion="reduce",
            )
            page.goto(url)
            for part in (".row .title", ".pattern", ".task p"):
                page.locator(part).first.wait_for(timeout=LONG)
            for look in (LOW_CONTRAST, NAMELESS, NO_KEYBOARD):
                assert page.evaluate(look) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            inside = "one => one.closest('.card').getBoundingClientRect().right"
            for place in (".reason b", ".queue b", "td:last-child"):
                found = page.locator(place).first
                right = found.bounding_box()["x"] + found.bounding_box()["width"]
                assert right <= found.evaluate(inside), f"{place} leaves its card"


def test_keyboard_focus_is_kept_while_the_page_updates() -> None:
    source = StubSource({**state(), "control": CONTROL}, [], NOTHING)
    with served(source) as url, browser() as chromium:
        page = chromium.new_page(locale="en-GB")
        page.goto(url)
        page.locator("#controls [data-act=pause]").focus()

        def focused_action(pages: int, **control: object) -> str:
            """Return the action of the focused button once the page shows so many pages."""
            totals = {**source.current["totals"], "pages": pages}
            run = {**source.current["run"], "seconds": float(pages)}
            wanted = {**CONTROL, **control}
            source.current = {**source.current, "totals": totals, "run": run, "control": wanted}
            page.get_by_text(f"{pages:,}", exact=True).first.wait_for(timeout=LONG)
            return str(page.evaluate("document.activeElement.dataset.act"))

        assert focused_action(4321) == "pause"
        assert focused_action(4322, paused=True) == "resume", (
            "the focus moves to the button in its place"
        )
        page.locator("#controls select").focus()
        focused_action(4323, paused=False, speed=2.0)
        assert page.evaluate("document.activeElement.value") == "2"


ENDS = [
    (None, "", True, "crawling", ""),
    (110.0, "", False, "not responding", "was killed or cannot write"),
    (110.0, "finished", False, "ended", ""),
    (110.0, "storage_error", False, "ended", "data could not be stored"),
]


def test_end_of_a_crawl_is_shown() -> None:
    source = StubSource(state(), [], NOTHING)
    with served(source) as url, browser() as chromium:
        page = chromium.new_page(locale="en-GB")
        for ended, reason, live, word, notice in ENDS:
            current = state(finished=ended, reason=reason)
            run = {**current["run"], "finished": ended if reason else None}
            node = {
                "run": run, "totals": current["totals"],
                "waiting": current["waiting"], "live": live,
            }  # fmt: skip
            source.current = {**current, "nodes": [node]}
            page.goto(url)
            page.locator("#state", has_text=word).wait_for(timeout=LONG)
            assert notice in page.locator("#notice").inner_text()
            assert page.locator("#notice").is_visible() == bool(notice)


def test_report_sends_no_requests(tmp_path: Path) -> None:
    path, messages = tmp_path / "report.html", list[str]()
    path.write_text(report_page(wild(), "zh"), encoding="utf-8")
    with browser() as chromium:
        context = chromium.new_context(offline=True, viewport={"width": 390, "height": 844})
        page = context.new_page()
        page.on("request", lambda request: messages.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        page.goto(path.as_uri())
        assert page.locator("main svg[role=img]").count() == 2, "the report has its charts"
        assert page.locator("main svg[role=img] polyline").first.bounding_box()["width"] > 100
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        for look in (LOW_CONTRAST, NAMELESS, NO_KEYBOARD):
            assert page.evaluate(look) == []
    assert messages == [path.as_uri()]

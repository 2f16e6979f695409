"""Tests of crawler traps and of files that are not pages."""

from __future__ import annotations

import pytest

from topiccrawl.errors import SettingError
from topiccrawl.links.traps import TrapRules, _trap, trap

RULES = TrapRules(last_year=2027)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"http://a.test/{'x' * 512}", "too-long"),
        (f"http://a.test/{'/'.join('abcdefghijklm')}", "too-deep"),
        ("http://a.test/report.PDF", "file-type"),
        ("http://a.test/a/photo.jpg?w=100", "file-type"),
        ("http://a.test/dir/list/more/list/list/", "repeated-path"),
        ("http://a.test/x.shtml/index.shtml/index.shtml/index.shtml", "repeated-path"),
        ("http://a.test/(S(lit3py55t21z5v55vlm25s55))/x.aspx", "session-id"),
        ("http://a.test/sid-0cc175b9c0f1b6a831c399e2/x", "session-id"),
        ("http://a.test/s/0cc175b9c0f1/item-3.html", "session-id"),
        ("http://rili.city.test/2026/05/", "calendar"),
        ("http://a.test/calendar?year=2026&month=5", "calendar"),
        ("http://a.test/events/2093/01/", "calendar"),
        ("http://a.test/events?year=20935", "calendar"),
        ("http://a.test/log/1907-01-02/", "calendar"),
        ("http://a.test/2026/01/2026/02/2026/03/", "calendar"),
        ("http://a.test/l?" + "&".join(f"p{i}={i}" for i in range(17)), "growing-query"),
        ("http://a.test/l?page=1&page=2&page=3&page=4", "growing-query"),
    ],
)
def test_trap_is_reported_with_its_reason(url: str, reason: str) -> None:
    assert trap(url, RULES) == reason


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/",
        "http://a.test",
        "http://a.test/news/2026/05/03/a.html",
        "http://a.test/a/20160112/001234.htm",
        "http://a.test/01/01/01/01/x.html",
        "http://a.test/ring/1086/2/001.html",
        "http://a.test/news/china/news/",
        "http://a.test/session/2016-conference/",
        "http://a.test/s/2016worldcup/x.html",
        "http://a.test/s/201601120001/x.html",
        "http://a.test/rili/about.html",
        "http://a.test/x.shtml?p=1&p=2&p=3",
        "http://a.test/view.php?f=a.jpg",
        "http://pdf.test/x.com",
    ],
)
def test_news_url_is_not_a_trap(url: str) -> None:
    assert trap(url, RULES) is None


def test_zero_disables_a_limit() -> None:
    off = TrapRules(max_length=0, max_slashes=0)
    path = "/".join(map(str, range(500)))
    assert trap(f"http://a.test/{path}", off) is None
    assert trap(f"http://a.test/{path}", TrapRules(max_length=0)) == "too-deep"
    assert trap(f"http://a.test/{path}", TrapRules(max_slashes=0)) == "too-long"


def test_only_the_length_of_a_long_url_is_checked() -> None:
    before = _trap.cache_info()
    assert trap(f"http://a.test/{'a' * 4_000}", RULES) == "too-long"
    assert _trap.cache_info() == before


def test_negative_limit_is_refused() -> None:
    with pytest.raises(SettingError, match="max_slashes = -1"):
        TrapRules(max_slashes=-1)


def test_years_after_next_year_are_traps_by_default() -> None:
    years = [trap(f"http://a.test/{year}/01/x.html") for year in (2015, 2150)]
    assert years == [None, "calendar"]

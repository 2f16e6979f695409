"""Tests of URL patterns that include and exclude."""

from __future__ import annotations

import pytest

from topiccrawl.links.hosts import HostRules
from topiccrawl.links.urlrules import UrlRules


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("/sport/*", "http://a.test/sport/1", True),
        ("/sport/*", "http://a.test/news/sport/1", False),
        ("/sport/", "http://a.test/sport/1", False),
        ("*/sport/*", "http://a.test/news/sport/1", True),
        ("a.test", "http://a.test/", True),
        ("a.test", "http://a.test:8080/x?y=1", True),
        ("a.test", "http://b.a.test/", True),
        ("a.test", "http://na.test/", False),
        ("*.a.test/2026/*", "http://b.a.test/2026/x", True),
        ("*.a.test/2026/*", "http://a.test/2026/x", False),
        ("https://a.test/x*", "http://a.test/x?page=2", True),
        ("/list?page=*", "http://a.test/list?page=2", True),
        ("/list?page=*", "http://a.test/listXpage=2", False),
        ("/新闻/*", "http://a.test/%E6%96%B0%E9%97%BB/1", True),
        ("例子.中国/*", "http://xn--fsqu00a.xn--fiqs8s/1", True),
        ("re:/20\\d\\d/", "http://a.test/2026/x", True),
        ("re:^a\\.test/$", "http://a.test", True),
        ("re:\\.pdf$", "http://a.test/x.html", False),
    ],
)
def test_pattern_matches_as_documented(pattern: str, url: str, *, matches: bool) -> None:
    assert UrlRules(exclude=[pattern]).refuse(url) == ("url-excluded" if matches else None)
    assert UrlRules(include=[pattern]).refuse(url) == (None if matches else "url-not-included")


@pytest.mark.parametrize("pattern", ["", "re:", "re:(", "http://"])
def test_invalid_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        UrlRules(include=[pattern])


def test_hosts_are_checked_before_urls() -> None:
    rules = HostRules(["a.test"], [], UrlRules(exclude=["/x/*"]))
    assert rules.refuse("http://b.test/x/1") == "host-not-allowed"
    assert rules.refuse("http://a.test/x/1") == "url-excluded"
    assert HostRules([], [], UrlRules(exclude=["/x/*"])).refuse("http://a.test/x/1") is not None

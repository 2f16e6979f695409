"""Tests of allowed and denied hosts."""

from __future__ import annotations

from topiccrawl.links.hosts import HostRules


def test_all_hosts_are_allowed_without_rules() -> None:
    assert HostRules((), ()).refuse("http://a.test/") is None


def test_rule_covers_subdomains_only() -> None:
    rules = HostRules(["news.test"], [])
    assert rules.refuse("http://a.b.news.test/x") is None
    assert rules.refuse("http://badnews.test/") == "host-not-allowed"


def test_denied_host_overrides_allowed_host() -> None:
    assert (
        HostRules(["news.test"], ["ads.news.test"]).refuse("http://ads.news.test/") == "host-denied"
    )

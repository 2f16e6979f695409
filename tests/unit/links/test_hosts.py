"""Allowed and denied hosts."""

from __future__ import annotations

from topiccrawl.links.hosts import HostRules


def test_without_rules_all_hosts_pass() -> None:
    assert HostRules((), ()).refuse("http://a.test/") is None


def test_a_rule_covers_subdomains_but_no_lookalikes() -> None:
    rules = HostRules(["news.test"], [])
    assert rules.refuse("http://a.b.news.test/x") is None
    assert rules.refuse("http://badnews.test/") == "host-not-allowed"


def test_denied_wins() -> None:
    assert (
        HostRules(["news.test"], ["ads.news.test"]).refuse("http://ads.news.test/") == "host-denied"
    )

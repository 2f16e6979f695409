"""Tests of memory limits for large and hostile robots.txt files."""

from __future__ import annotations

import gc
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from topiccrawl.frontier import politeness
from topiccrawl.frontier.contract import Politeness
from topiccrawl.frontier.hosts import HostRegistry
from topiccrawl.frontier.politeness import Robots
from topiccrawl.frontier.store import Store
from topiccrawl.links.robots import MAX_PATTERNS, rules_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def body(rules: int) -> bytes:
    lines = "".join(f"Disallow: /a*{number:x}*b$\n" for number in range(rules))
    return f"User-agent: *\n{lines}".encode()


def test_parsed_robots_files_stay_within_the_cache_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(politeness, "CACHE_BYTES", 2_000_000)
    store = Store(tmp_path)
    registry, robots = HostRegistry(store), Robots(store, Politeness())
    tracemalloc.start()
    for number in range(40):
        origin = registry.origin(f"http://a{number}.test/")
        assert origin is not None
        robots.store(origin, body(300), 0.0, available=True)
        assert robots.allowed(origin, f"http://a{number}.test/")
    gc.collect()  # a parsed file is part of a reference cycle
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert used < 2 * politeness.CACHE_BYTES
    store.close()


def robots_of(folder: Path, body: bytes) -> Callable[[str], bool]:
    """Return a function that checks whether the robots.txt allows a path."""
    robots = Robots(store := Store(folder), Politeness())
    origin = HostRegistry(store).origin("http://a.test/")
    assert origin is not None
    robots.store(origin, body, 0.0, available=True)
    return lambda path: robots.allowed(origin, f"http://a.test{path}")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0c"])
def test_all_rules_of_a_long_file_apply(tmp_path: Path, end: str) -> None:
    rules = [f"Disallow: /{number:x}/" for number in range(12_000)]
    allowed = robots_of(tmp_path, end.join(["User-agent: *", *rules, "Disallow: /y"]).encode())
    assert not allowed("/y")
    assert allowed("/x")


def test_a_rule_at_the_end_of_500_kib_applies(tmp_path: Path) -> None:
    rule = b"User-agent: *\nDisallow: /private"
    allowed = robots_of(tmp_path, b"#".ljust(500 * 1024 - len(rule) - 1, b"x") + b"\n" + rule)
    assert not allowed("/private/1")


def test_patterns_beyond_the_limit_forbid_more_urls(tmp_path: Path) -> None:
    wild = "".join(f"Disallow: /{number:x}*b$\n" for number in range(MAX_PATTERNS))
    allowed = robots_of(tmp_path, f"User-agent: *\n{wild}Allow: /z*1\nDisallow: /z*b\n".encode())
    assert not allowed("/1xb")
    assert allowed("/1xc")
    assert not allowed("/z1")
    assert allowed("/y")


def test_rules_of_many_user_agents_are_parsed_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Protego stores each rule for each user agent of its group: 35 million here."""
    names = "".join(f"User-agent: {number}\n" for number in range(1000))
    rules = "Disallow: /a\n" * 35_000
    caplog.set_level("DEBUG")
    began = time.process_time()
    assert robots_of(tmp_path / "other", f"{names}{rules}".encode())("/a")
    own = f"{names}User-agent: TopicCrawl*\n{rules}User-agent: *\nDisallow: /"
    allowed = robots_of(tmp_path / "own", own.encode())
    assert (allowed("/a"), allowed("/b")) == (False, True)
    assert time.process_time() - began < 5
    assert not caplog.records, "35,000 records take 0.3 s"


LINES = st.sampled_from([
    "User-agent: *", "User-agent: topiccrawl", "user-agent:TopicCrawl*", "User-Agent: topic",
    "User agent: crawl", "useragent t", "User-agent:", "User-agent: b # x", "User-agent: **",
    " User-agent : topiccrawl-news", "Disallow: /a", "Allow: /a/b", "Disallow: /", "Disallow:",
    "Crawl-delay: 3", "Sitemap: /s", "", "x: y",
])  # fmt: skip


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_rules_for_an_agent_are_those_of_the_file(text: str) -> None:
    for agent in ("topiccrawl", "Mozilla/5.0 (compatible; topiccrawl-news/1.0)", "other"):
        whole, own = Protego.parse(text), Protego.parse(rules_for(agent, text))
        for path in ("/", "/a", "/a/b"):
            assert own.can_fetch(path, agent) == whole.can_fetch(path, agent)
        assert own.crawl_delay(agent) == whole.crawl_delay(agent)

"""Memory and work that hostile robots.txt files may take."""

from __future__ import annotations

import gc
import tracemalloc
from typing import TYPE_CHECKING

from topiccrawl.frontier import politeness
from topiccrawl.frontier.contract import Politeness
from topiccrawl.frontier.hosts import Places
from topiccrawl.frontier.politeness import Robots
from topiccrawl.frontier.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def body(rules: int) -> bytes:
    lines = "".join(f"Disallow: /a*{number:x}*b$\n" for number in range(rules))
    return f"User-agent: *\n{lines}".encode()


def test_parsed_files_take_the_memory_that_they_are_counted_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(politeness, "CACHE_BYTES", 2_000_000)
    store = Store(tmp_path)
    places, robots = Places(store), Robots(store, Politeness())
    tracemalloc.start()
    for number in range(40):
        origin = places.origin(f"http://a{number}.test/")
        assert origin is not None
        robots.keep(origin, body(300), 0.0, available=True)
        assert robots.allowed(origin, f"http://a{number}.test/")
    gc.collect()  # a parsed file is a cycle
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert used < 2 * politeness.CACHE_BYTES
    store.close()


def test_lines_beyond_the_bound_are_not_read(tmp_path: Path) -> None:
    store = Store(tmp_path)
    origin, robots = Places(store).origin("http://a.test/"), Robots(store, Politeness())
    assert origin is not None
    for end in (b"\n", b"\r", b"\r\n"):
        lines = [b"User-agent: *", *[b"Disallow: /x"] * politeness.MOST_LINES, b"Disallow: /y"]
        robots.keep(origin, end.join(lines), 0.0, available=True)
        assert not robots.allowed(origin, "http://a.test/x")
        assert robots.allowed(origin, "http://a.test/y")
    store.close()

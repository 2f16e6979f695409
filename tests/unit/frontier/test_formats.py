"""Tests of exports: of an older format, of a changed formula, of refused URLs."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from typing_extensions import override

from tests.contracts.lines import from_line
from tests.contracts.strategies import Best
from topiccrawl.addons.queue_admin.export import to_line
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.entries import SeenEntry, UrlEntry
from topiccrawl.links.strategies.contract import LEARNT
from topiccrawl.model import Kind, Offer

EXPORTED = Path(__file__).parent / "exported.jsonl.gz"
"""Export of a folder of format 6: pages of four hosts in all queues, some of them evicted."""
QUICK = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=True, concurrency=9)
SURE = Limits(seen_error=1e-6)


def opened(folder: Path, strategy: Best | None = None) -> EmbeddedFrontier:
    return EmbeddedFrontier(
        folder, strategy or Best(), QUICK, SURE, clock=lambda: 1_000_000.0, sync="never",
        owner="news",
    )  # fmt: skip


def test_export_of_an_older_format_is_imported_completely(tmp_path: Path) -> None:
    lines = gzip.decompress(EXPORTED.read_bytes()).decode().splitlines(keepends=True)
    entries = [from_line(line) for line in lines]
    frontier = opened(tmp_path)
    urls = [entry for entry in entries if isinstance(entry, UrlEntry)]
    assert frontier.load(entries) == len(urls)
    assert {entry.queue for entry in urls} >= {"prior", "normal", "crawled", "error"}
    assert any(isinstance(entry, SeenEntry) for entry in entries)
    frontier.close()
    frontier = opened(tmp_path)
    assert sorted(map(to_line, frontier.export())) == sorted(lines)
    assert {lease.kind for lease in frontier.pop(99)} == {Kind.PAGE}  # robots.txt files are known
    frontier.close()


class SquaredScore(Best):
    """``Best`` with another formula for the same fields."""

    @override
    def signature(self) -> str:
        return "squares"

    @override
    def value(self, evidence: tuple[float, ...]) -> float:
        return evidence[0] ** 2


def test_changed_formula_revalues_a_resumed_queue(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://page.cn/")])
    (robots_lease,) = frontier.pop()
    frontier.robots(robots_lease, None, 404)
    (lease,) = frontier.pop()
    links = [Offer(f"http://a.cn/{n}", 1, (n / 8, 0.0), "x" * (5 * n)) for n in range(1, 6)]
    frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=0.5), links)
    frontier.close()

    frontier = opened(tmp_path)
    assert frontier.sweep(99) == 0
    frontier.close()
    frontier = opened(tmp_path, SquaredScore())
    assert frontier.sweep(99) == 6
    assert frontier.sweep(99) == 0
    values = {
        url: value for lane in ("prior", "normal") for url, value, _ in frontier.iterate(lane)
    }
    for url, value in values.items():
        entry = frontier.why(url)
        assert entry is not None
        assert value == pytest.approx(entry.evidence["score"] ** 2)
    assert len(values) == 5
    frontier.close()


def test_learning_starts_no_sweep_after_a_changed_formula(tmp_path: Path) -> None:
    strategy = SquaredScore()
    frontier = opened(tmp_path, strategy)
    frontier.push([Seed("http://page.cn/")])
    strategy.version += LEARNT
    assert frontier.sweep(99) == 0
    frontier.close()
    frontier = opened(tmp_path, strategy)
    assert frontier.sweep(99) == 0
    strategy.version += 1
    assert frontier.sweep(99) == 1
    frontier.close()


def test_export_has_the_time_of_a_refusal(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://a.cn/")])
    (robots_lease,) = frontier.pop()
    frontier.robots(robots_lease, b"User-agent: *\nDisallow: /", 200)
    assert frontier.pop() == []
    urls = [entry for entry in frontier.export() if isinstance(entry, UrlEntry)]
    assert [(entry.reason, entry.when) for entry in urls] == [("robots", 1_000_000.0)]
    frontier.close()

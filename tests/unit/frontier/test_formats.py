"""What another version wrote: exports are taken over, folders migrated in place or refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import lmdb
import pytest
from typing_extensions import override

from tests.contracts.lines import from_line, recount
from tests.contracts.strategies import Best
from topiccrawl.commands.frontier_export import to_line
from topiccrawl.errors import StateVersionError
from topiccrawl.frontier import rows, store
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.entries import SeenEntry, UrlEntry
from topiccrawl.frontier.view import View
from topiccrawl.links.strategies.contract import LEARNT
from topiccrawl.model import Kind, Offer

EXPORTED = Path(__file__).parent / "exported.jsonl.gz"
"""Written by the version whose folders had format 6: pages of four hosts in all queues, evicted
ones among them."""
QUICK = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=True, concurrency=9)
SURE = Limits(seen_error=1e-6)


def opened(folder: Path, strategy: Best | None = None) -> EmbeddedFrontier:
    return EmbeddedFrontier(
        folder, strategy or Best(), QUICK, SURE, clock=lambda: 1_000_000.0, sync="never",
        owner="news",
    )  # fmt: skip


def test_an_export_of_the_format_before_is_taken_over_whole(tmp_path: Path) -> None:
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


def to_format_7(folder: Path) -> None:
    """Rewrite a folder as the version before wrote it: rows by number, and numbers by key."""
    with lmdb.open(str(folder), max_dbs=12) as env:
        meta, urls, arrivals, rows, ids = (
            env.open_db(name) for name in (b"meta", b"urls", b"arrivals", b"rows", b"ids")
        )
        with env.begin(write=True) as txn:
            for number, key in txn.cursor(arrivals):
                txn.put(number, key + txn.get(key, b"", urls), db=rows)
                txn.put(key, number, db=ids)
            txn.drop(urls)
            txn.drop(arrivals)
            about = json.loads(txn.get(store.ABOUT.encode(), b"", meta))
            txn.put(store.ABOUT.encode(), json.dumps({**about, "format": 7}).encode(), db=meta)


@pytest.mark.parametrize("left", [False, True])
def test_a_folder_of_format_7_is_migrated_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, left: bool
) -> None:
    monkeypatch.setattr(rows, "MIGRATION_BATCH", 3)
    lines = gzip.decompress(EXPORTED.read_bytes()).decode().splitlines()
    frontier = opened(tmp_path)
    frontier.load(map(from_line, lines))
    before = sorted(map(to_line, frontier.export()))
    frontier.close()
    to_format_7(tmp_path)
    if left:  # a migration that was killed
        with lmdb.open(str(tmp_path), max_dbs=12) as env, env.begin(write=True) as txn:
            txn.put(b"key", b"row", db=env.open_db(b"urls", txn))
    with pytest.raises(StateVersionError, match="next crawl with it migrates it"):
        View.read(tmp_path, Best())
    for _ in range(2):
        frontier = opened(tmp_path)
        assert sorted(map(to_line, frontier.export())) == before
        assert frontier.counts() == {**frontier.counts(), **recount(frontier.view)}
        frontier.close()


class Heavier(Best):
    """The same fields, another formula."""

    @override
    def signature(self) -> str:
        return "squares"

    @override
    def value(self, evidence: tuple[float, ...]) -> float:
        return evidence[0] ** 2


def test_a_changed_formula_gives_a_resumed_queue_new_values(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://page.cn/")])
    (ask,) = frontier.pop()
    frontier.robots(ask, None, 404)
    (lease,) = frontier.pop()
    links = [Offer(f"http://a.cn/{n}", 1, (n / 8, 0.0), "x" * (5 * n)) for n in range(1, 6)]
    frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=0.5), links)
    frontier.close()

    frontier = opened(tmp_path)
    assert frontier.sweep(99) == 0
    frontier.close()
    frontier = opened(tmp_path, Heavier())
    assert frontier.sweep(99) == 6
    assert frontier.sweep(99) == 0
    told = {url: value for lane in ("prior", "normal") for url, value, _ in frontier.iterate(lane)}
    for url, value in told.items():
        known = frontier.why(url)
        assert known is not None
        assert value == pytest.approx(known.evidence["score"] ** 2)
    assert len(told) == 5
    frontier.close()


def test_what_was_learnt_starts_no_sweep_after_a_changed_formula_either(tmp_path: Path) -> None:
    strategy = Heavier()
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

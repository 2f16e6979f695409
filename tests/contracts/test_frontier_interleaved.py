"""Tests of interleaved calls: exports, sweeps and evictions during a crawl, a reset clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.strategies import Best, Plain
from tests.contracts.test_frontier_order import crawl, lease_of, offer
from topiccrawl.errors import StateError
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed
from topiccrawl.frontier.entries import HostEntry, UrlEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.contracts.conftest import Make
    from topiccrawl.frontier.contract import Frontier

CRAWLED = Outcome(Ending.CRAWLED)


def test_new_host_during_an_export_is_harmless(make: Make) -> None:
    frontier = make()
    frontier.push([Seed("http://a.cn/")])
    frontier.commit()
    entries = frontier.export()
    about = next(entries)
    frontier.push([Seed("http://new.cn/")])
    rows = [about, *entries]
    assert "a.cn" in {entry.name for entry in rows if isinstance(entry, HostEntry)}
    assert "http://a.cn/" in {entry.url for entry in rows if isinstance(entry, UrlEntry)}


def test_crawling_during_an_export_loses_no_url(make: Make) -> None:
    frontier = make(strategy=Best())
    frontier.push([Seed(f"http://{n}.cn/") for n in range(1_200)])
    frontier.commit()
    entries = frontier.export()
    begun = [next(entries) for _ in range(3)]
    frontier.push([Seed(f"http://new{n}.cn/list/", 1.0) for n in range(50)])
    while lease := frontier.pop(1):
        frontier.finish(lease[0], CRAWLED, [])
    frontier.commit()
    urls = {entry.url for entry in [*begun, *entries] if isinstance(entry, UrlEntry)}
    assert {f"http://{n}.cn/" for n in range(1_200)} <= urls


def test_leases_expire_although_the_clock_was_set_back(make: Make) -> None:
    frontier = make(limits=Limits(lease_seconds=100.0))
    frontier.push([Seed("http://a.cn/"), Seed("http://b.cn/", 0.5)])
    assert len(frontier.pop(1)) == 1
    make.clock += -3600.0
    assert len(frontier.pop(1)) == 1
    due = frontier.next_due()
    assert due is not None
    assert due <= 100.0
    make.clock += 101.0
    frontier.pop(1)
    assert frontier.counts()["expired"] == 2


def test_requeue_of_an_unknown_url_creates_no_host(make: Make) -> None:
    frontier = make()
    frontier.push([Seed("http://a.cn/")])
    assert not frontier.requeue("http://never.cn/")
    assert [e.name for e in frontier.export() if isinstance(e, HostEntry)] == ["a.cn"]


def test_sweep_skips_no_row_during_eviction(make: Make) -> None:
    strategy = Plain()
    frontier = make(limits=Limits(max_known=20, seen_error=1e-6), strategy=strategy)
    crawl(frontier, *(offer(f"http://low.cn/{n}", 0.0, 2) for n in range(90)))
    waiting = (offer(f"http://w.cn/{n}", 0.5) for n in range(17))
    crawl(frontier, *waiting, url="http://t.cn/")
    strategy.version += 1
    while frontier.sweep(2):
        pass
    rows = [entry for entry in frontier.export() if isinstance(entry, UrlEntry)]
    versions = [entry.version for entry in rows if entry.queue == "normal"]
    assert versions == [strategy.version] * 17


def exported(frontier: Frontier) -> Iterator[str]:
    entries = (entry for entry in frontier.export() if isinstance(entry, UrlEntry))
    return (entry.url for entry in entries if entry.queue == "normal")


def listed(frontier: Frontier) -> Iterator[str]:
    return (url for url, _, _ in frontier.iterate("normal"))


@pytest.mark.parametrize("read", [exported, listed])
def test_reader_gets_each_row_once_during_eviction(
    make: Make, read: Callable[[Frontier], Iterator[str]]
) -> None:
    frontier = make(limits=Limits(max_known=100, seen_error=1e-6))
    low = (offer(f"http://low{n}.cn/", 0.0, 2) for n in range(60))
    waiting = [f"http://w{n}.cn/" for n in range(30)]
    crawl(frontier, *low, *(offer(url, 0.5) for url in waiting))
    reading = read(frontier)
    first = [next(reading) for _ in range(10)]
    for n in range(60):
        frontier.push([Seed(f"http://new{n}.cn/")])
    assert sorted([*first, *reading]) == sorted(waiting)


def test_bounded_frontier_imports_entries_in_any_order(make: Make, make_other: Make) -> None:
    frontier = make()
    crawl(frontier, *(offer(f"http://w.cn/{n}", 0.5) for n in range(40)))
    rows = list(frontier.export())
    urls = [entry for entry in rows if isinstance(entry, UrlEntry)]
    others = [entry for entry in rows if not isinstance(entry, UrlEntry)]
    other = make_other(limits=Limits(max_known=20, seen_error=1e-6))
    mixed = [urls[-1], *urls[:-1]]
    assert other.load([*others, *mixed]) == len(urls)
    assert [lease.url for lease in other.pop(99)] == [f"http://w.cn/{n}" for n in range(40)]
    other.close()


def test_lease_can_be_finished_after_evictions(make: Make) -> None:
    frontier = make(limits=Limits(max_known=10, seen_error=1e-6))
    crawl(frontier, *(offer(f"http://low.cn/{n}", 0.0, 2) for n in range(40)))
    frontier.push([Seed("http://out.cn/")])
    lease = lease_of(frontier, "http://out.cn/")
    for turn in range(40):
        frontier.push([Seed(f"http://h.cn/{turn}")])
        assert frontier.finish(frontier.pop(1)[0], CRAWLED)
    assert frontier.finish(lease, CRAWLED, [offer("http://child.cn/", 0.5)])
    found = frontier.why("http://child.cn/")
    assert found is not None
    assert found.queue == "normal"


def test_frontier_with_only_evicted_urls_is_not_empty(make: Make, make_other: Make) -> None:
    other = make_other()
    frontier = make(limits=Limits(max_known=4, seen_error=1e-6))
    urls = [f"http://a.cn/{n}" for n in range(20)]
    frontier.push(map(Seed, urls))
    while leases := frontier.pop():
        frontier.finish(leases[0], CRAWLED)
    for url in urls:
        frontier.forget(url)
    assert frontier.counts()["known"] == 0
    with pytest.raises(StateError, match="evicted"):
        frontier.load(other.export())


def test_counted_links_are_not_counted_again(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/", 0.5), url="http://page.cn/")
    frontier.commit()
    for _ in range(2):
        assert frontier.requeue("http://page.cn/")
        both = [offer("http://a.cn/", 0.5), offer("http://b.cn/", 0.5)]
        assert frontier.finish(lease_of(frontier, "http://page.cn/"), CRAWLED, both)
    for url in ("http://a.cn/", "http://b.cn/"):
        found = frontier.why(url)
        assert found is not None
        assert found.inlinks == 1

"""What goes on while something else does: exports, moved clocks, records that are evicted."""

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


def test_a_host_that_is_met_during_an_export_does_no_harm(make: Make) -> None:
    frontier = make()
    frontier.push([Seed("http://a.cn/")])
    frontier.commit()
    entries = frontier.export()
    about = next(entries)
    frontier.push([Seed("http://new.cn/")])
    told = [about, *entries]
    assert "a.cn" in {entry.name for entry in told if isinstance(entry, HostEntry)}
    assert "http://a.cn/" in {entry.url for entry in told if isinstance(entry, UrlEntry)}


def test_a_host_that_is_crawled_during_an_export_does_no_harm(make: Make) -> None:
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


def test_no_lease_outlives_its_time_because_the_clock_was_set_back(make: Make) -> None:
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


def test_who_asks_for_a_url_that_nobody_knows_leaves_no_host_behind(make: Make) -> None:
    frontier = make()
    frontier.push([Seed("http://a.cn/")])
    assert not frontier.requeue("http://never.cn/")
    assert [e.name for e in frontier.export() if isinstance(e, HostEntry)] == ["a.cn"]


def test_a_sweep_passes_over_no_row_while_records_are_let_go(make: Make) -> None:
    strategy = Plain()
    frontier = make(limits=Limits(max_known=20, seen_error=1e-6), strategy=strategy)
    crawl(frontier, *(offer(f"http://low.cn/{n}", 0.0, 2) for n in range(90)))
    waiting = (offer(f"http://w.cn/{n}", 0.5) for n in range(17))
    crawl(frontier, *waiting, url="http://t.cn/")
    strategy.version += 1
    while frontier.sweep(2):
        pass
    told = [entry for entry in frontier.export() if isinstance(entry, UrlEntry)]
    versions = [entry.version for entry in told if entry.queue == "normal"]
    assert versions == [strategy.version] * 17


def exported(frontier: Frontier) -> Iterator[str]:
    entries = (entry for entry in frontier.export() if isinstance(entry, UrlEntry))
    return (entry.url for entry in entries if entry.queue == "normal")


def listed(frontier: Frontier) -> Iterator[str]:
    return (url for url, _, _ in frontier.iterate("normal"))


@pytest.mark.parametrize("read", [exported, listed])
def test_who_reads_is_given_each_row_once_while_records_are_let_go(
    make: Make, read: Callable[[Frontier], Iterator[str]]
) -> None:
    frontier = make(limits=Limits(max_known=100, seen_error=1e-6))
    low = (offer(f"http://low{n}.cn/", 0.0, 2) for n in range(60))
    waiting = [f"http://w{n}.cn/" for n in range(30)]
    crawl(frontier, *low, *(offer(url, 0.5) for url in waiting))
    reading = read(frontier)
    told = [next(reading) for _ in range(10)]
    for n in range(60):
        frontier.push([Seed(f"http://new{n}.cn/")])
    assert sorted([*told, *reading]) == sorted(waiting)


def test_a_bounded_crawl_takes_an_export_in_any_order(make: Make, elsewhere: Make) -> None:
    frontier = make()
    crawl(frontier, *(offer(f"http://w.cn/{n}", 0.5) for n in range(40)))
    told = list(frontier.export())
    urls = [entry for entry in told if isinstance(entry, UrlEntry)]
    others = [entry for entry in told if not isinstance(entry, UrlEntry)]
    other = elsewhere(limits=Limits(max_known=20, seen_error=1e-6))
    mixed = [urls[-1], *urls[:-1]]
    assert other.load([*others, *mixed]) == len(urls)
    assert [lease.url for lease in other.pop(99)] == [f"http://w.cn/{n}" for n in range(40)]
    other.close()


def test_what_is_out_ends_well_while_records_are_let_go(make: Make) -> None:
    frontier = make(limits=Limits(max_known=10, seen_error=1e-6))
    crawl(frontier, *(offer(f"http://low.cn/{n}", 0.0, 2) for n in range(40)))
    frontier.push([Seed("http://out.cn/")])
    lease = lease_of(frontier, "http://out.cn/")
    for turn in range(40):
        frontier.push([Seed(f"http://h.cn/{turn}")])
        assert frontier.finish(frontier.pop(1)[0], CRAWLED)
    assert frontier.finish(lease, CRAWLED, [offer("http://child.cn/", 0.5)])
    told = frontier.why("http://child.cn/")
    assert told is not None
    assert told.queue == "normal"


def test_a_frontier_that_let_go_of_all_it_had_is_not_empty(make: Make, elsewhere: Make) -> None:
    other = elsewhere()
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


def test_links_counted_a_moment_ago_are_not_counted_again(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/", 0.5), url="http://page.cn/")
    frontier.commit()
    for _ in range(2):
        assert frontier.requeue("http://page.cn/")
        both = [offer("http://a.cn/", 0.5), offer("http://b.cn/", 0.5)]
        assert frontier.finish(lease_of(frontier, "http://page.cn/"), CRAWLED, both)
    for url in ("http://a.cn/", "http://b.cn/"):
        told = frontier.why(url)
        assert told is not None
        assert told.inlinks == 1

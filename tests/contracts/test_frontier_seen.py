"""Tests of the seen filter and of eviction."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.contracts.lines import from_line
from tests.contracts.test_frontier_order import drain, lease_of, offer
from topiccrawl.addons.queue_admin.export import to_line
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed
from topiccrawl.frontier.entries import SeenEntry

if TYPE_CHECKING:
    from tests.contracts.conftest import Make
    from topiccrawl.frontier.contract import Frontier

CRAWLED = Outcome(Ending.CRAWLED)
FAILED = Outcome(Ending.ERROR, "http-404")
SURE = 1e-6
PAGES = [f"http://h{n % 9}.cn/{n}" for n in range(40)]


def bounded(make: Make, most: int = 10) -> Frontier:
    return make(limits=Limits(max_known=most, seen_error=SURE))


def evict_pages(frontier: Frontier) -> list[str]:
    """Fetch all pages, the last with an error; return the evicted ones."""
    assert frontier.push(map(Seed, PAGES)) == len(PAGES)
    while leases := frontier.pop(1):
        failed = leases[0].url == PAGES[-1]
        assert frontier.finish(leases[0], FAILED if failed else CRAWLED)
    records = {url: frontier.why(url) for url in PAGES}
    evicted = [url for url, known in records.items() if known is not None and known.queue == "seen"]
    assert len(evicted) >= len(PAGES) - 10
    return evicted


def test_records_of_fetched_urls_are_evicted_and_counted(make: Make) -> None:
    frontier = bounded(make)
    evicted = evict_pages(frontier)
    counts = frontier.counts()
    assert counts["known"] == len(PAGES) - len(evicted) <= 10
    assert counts["evicted/crawled"] + counts.get("evicted/error", 0) == len(evicted)
    assert counts["crawled"] + counts["evicted/crawled"] == len(PAGES) - 1
    assert sum(1 for queue in ("crawled", "error") for _ in frontier.iterate(queue)) <= 10


def test_evicted_url_is_not_fetched_again(make: Make) -> None:
    frontier = bounded(make)
    evicted = evict_pages(frontier)
    assert frontier.push(map(Seed, evicted)) == 0
    frontier.push([Seed("http://new.cn/"), Seed("http://moved.cn/")])
    offers = [offer(url, 1.0, 0) for url in evicted]
    assert frontier.finish(lease_of(frontier, "http://new.cn/"), CRAWLED, offers)
    moved = Outcome(Ending.REDIRECTED, target=evicted[0], redirects=1)
    assert frontier.finish(lease_of(frontier, "http://moved.cn/"), moved)
    assert not frontier.pop(9)
    assert not frontier.pending()
    assert frontier.counts()["seen"] == 2 * len(evicted) + 1


def test_evicted_url_is_not_fetched_after_reopening(make: Make) -> None:
    frontier = bounded(make)
    evicted = evict_pages(frontier)
    frontier.close()
    frontier = make()  # without a limit: evicted URLs stay evicted
    assert frontier.push(map(Seed, evicted)) == 0
    found = frontier.why(evicted[0])
    assert found is not None
    assert (found.queue, found.path) == ("seen", (evicted[0],))
    assert frontier.why("http://never.cn/") is None


def test_queued_and_leased_urls_are_not_evicted(make: Make) -> None:
    frontier = bounded(make)
    frontier.push(map(Seed, PAGES))
    leases = frontier.pop(20)
    for lease in leases[:15]:
        frontier.finish(lease, CRAWLED)
    counts = frontier.counts()
    assert (counts["prior"], counts["leased"]) == (20, 5)
    assert counts["known"] == 25
    for lease in leases[15:]:
        assert frontier.finish(lease, CRAWLED)
    assert {lease.url for lease in frontier.pop(99)} == set(PAGES) - {x.url for x in leases}


def test_only_requeue_restores_an_evicted_url(make: Make) -> None:
    frontier = bounded(make)
    evicted = evict_pages(frontier)
    assert not frontier.forget(evicted[0])
    assert not frontier.requeue("http://never.cn/")
    assert frontier.requeue(evicted[0])
    assert not frontier.requeue(evicted[0])
    assert frontier.requeue(evicted[1], 0.0)
    leases = frontier.pop(9)
    assert [(lease.url, lease.value) for lease in leases] == [(evicted[0], 1.0), (evicted[1], 0.0)]
    assert frontier.finish(leases[0], CRAWLED, [offer(evicted[1], 0.5), offer(evicted[2], 0.5)])
    found = frontier.why(evicted[1])
    assert found is not None
    assert found.inlinks == 1


def test_evicted_low_value_url_is_new_again(make: Make) -> None:
    frontier = bounded(make)
    frontier.push([Seed("http://a.cn/"), Seed("http://b.cn/")])
    low = [offer(f"http://low.cn/{n}", 0.0, 2) for n in range(30)]
    assert frontier.finish(lease_of(frontier, "http://a.cn/"), CRAWLED, low)
    counts = frontier.counts()
    assert counts["known"] <= 10
    assert counts["evicted/low-value"] + counts.get("error/low-value", 0) == 30
    evicted = [one.url for one in low if frontier.why(one.url) is None]
    assert len(evicted) == counts["evicted/low-value"]
    better = [offer(url, 0.5) for url in evicted]
    assert frontier.finish(lease_of(frontier, "http://b.cn/"), CRAWLED, better)
    assert {lease.url for lease in frontier.pop(99)} == set(evicted)


def test_imported_crawl_remembers_evicted_urls(make: Make, make_other: Make) -> None:
    frontier = bounded(make)
    evicted = evict_pages(frontier)
    entries = [from_line(to_line(entry)) for entry in frontier.export()]
    assert any(isinstance(entry, SeenEntry) for entry in entries)
    other = make_other(limits=Limits(max_known=10, seen_error=SURE))
    assert other.load(entries) == frontier.counts()["known"]
    counts = {name: n for name, n in frontier.counts().items() if n}
    assert {name: n for name, n in other.counts().items() if n} == counts
    assert other.push(map(Seed, evicted)) == 0
    other.close()
    other = make_other()
    assert other.push(map(Seed, evicted)) == 0
    assert not other.pop(9)


def test_long_crawl_keeps_its_limit_and_fetches_no_url_twice(make: Make) -> None:
    pages = 600
    frontier = make(limits=Limits(max_known=300, max_queued=60, seen_error=SURE))
    rng = random.Random(5)  # noqa: S311
    frontier.push([Seed("http://h0.cn/0")])
    met, most = 1, 0
    fetched: set[str] = set()
    for _ in range(pages):
        (lease,) = frontier.pop(1)
        assert lease.url not in fetched
        fetched.add(lease.url)
        links = []
        for _ in range(20):
            new = rng.random() < 0.4
            met += new
            page = met if new else rng.randrange(met)
            score = page * 7919 % 8 / 8
            links.append(offer(f"http://h{page % 40}.cn/{page}", score, 2 if score < 0.75 else 1))
        assert frontier.finish(lease, CRAWLED, links)
        known = frontier.counts()["known"]
        assert known <= 300
        most = max(most, known)
    assert most == 300
    counts = frontier.counts()
    assert counts["crawled"] + counts["evicted/crawled"] == pages
    assert counts["evicted/low-value"] > 100


def test_eviction_keeps_the_order_of_arrival(make: Make) -> None:
    frontier = bounded(make, 20)
    waiting = [f"http://w.cn/{n}" for n in range(6)]
    out = "http://out.cn/"
    frontier.push([Seed(out)])
    lease = lease_of(frontier, out)
    later = Outcome(Ending.LATER, "timeout", not_before=make.clock.now + 50)
    for turn in range(300):
        if turn % 50 == 0:
            frontier.push([Seed(waiting[turn // 50], 0.25)])
        frontier.push([Seed(f"http://h{turn % 9}.cn/{turn}")])
        links = [offer(f"http://low.cn/{turn}", 0.0, 2), offer("http://late.cn/", 1.0)]
        popped = frontier.pop(1)[0]
        frontier.finish(popped, later if popped.url == "http://late.cn/" else CRAWLED, links)
    assert frontier.finish(lease, CRAWLED)
    assert drain(frontier)[-6:] == waiting
    make.clock += 60
    assert drain(frontier) == ["http://late.cn/"]
    frontier.close()
    frontier = bounded(make, 20)
    assert not frontier.pop(9)
    assert frontier.counts()["known"] <= 20

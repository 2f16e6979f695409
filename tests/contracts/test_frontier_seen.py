"""A bound on what is known: settled records are evicted, and what was seen is not fetched again."""

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


def let_go(frontier: Frontier) -> list[str]:
    """Fetch all pages, the last with an error; those whose records are gone."""
    assert frontier.push(map(Seed, PAGES)) == len(PAGES)
    while leases := frontier.pop(1):
        failed = leases[0].url == PAGES[-1]
        assert frontier.finish(leases[0], FAILED if failed else CRAWLED)
    told = {url: frontier.why(url) for url in PAGES}
    gone = [url for url, known in told.items() if known is not None and known.queue == "seen"]
    assert len(gone) >= len(PAGES) - 10
    return gone


def test_records_of_what_was_fetched_are_let_go_and_counted(make: Make) -> None:
    frontier = bounded(make)
    gone = let_go(frontier)
    counts = frontier.counts()
    assert counts["known"] == len(PAGES) - len(gone) <= 10
    assert counts["evicted/crawled"] + counts.get("evicted/error", 0) == len(gone)
    assert counts["crawled"] + counts["evicted/crawled"] == len(PAGES) - 1
    assert sum(1 for queue in ("crawled", "error") for _ in frontier.iterate(queue)) <= 10


def test_what_was_let_go_is_fetched_by_no_seed_link_or_redirect(make: Make) -> None:
    frontier = bounded(make)
    gone = let_go(frontier)
    assert frontier.push(map(Seed, gone)) == 0
    frontier.push([Seed("http://new.cn/"), Seed("http://moved.cn/")])
    offers = [offer(url, 1.0, 0) for url in gone]
    assert frontier.finish(lease_of(frontier, "http://new.cn/"), CRAWLED, offers)
    moved = Outcome(Ending.REDIRECTED, target=gone[0], redirects=1)
    assert frontier.finish(lease_of(frontier, "http://moved.cn/"), moved)
    assert not frontier.pop(9)
    assert not frontier.pending()
    assert frontier.counts()["seen"] == 2 * len(gone) + 1


def test_it_is_not_fetched_after_closing_and_opening_either(make: Make) -> None:
    frontier = bounded(make)
    gone = let_go(frontier)
    frontier.close()
    frontier = make()  # without a bound: what was evicted stays so
    assert frontier.push(map(Seed, gone)) == 0
    told = frontier.why(gone[0])
    assert told is not None
    assert (told.queue, told.path) == ("seen", (gone[0],))
    assert frontier.why("http://never.cn/") is None


def test_what_waits_or_is_out_always_stays(make: Make) -> None:
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


def test_only_the_operators_hand_brings_it_back(make: Make) -> None:
    frontier = bounded(make)
    gone = let_go(frontier)
    assert not frontier.forget(gone[0])
    assert not frontier.requeue("http://never.cn/")
    assert frontier.requeue(gone[0])
    assert not frontier.requeue(gone[0])
    assert frontier.requeue(gone[1], 0.0)
    leases = frontier.pop(9)
    assert [(lease.url, lease.value) for lease in leases] == [(gone[0], 1.0), (gone[1], 0.0)]
    assert frontier.finish(leases[0], CRAWLED, [offer(gone[1], 0.5), offer(gone[2], 0.5)])
    told = frontier.why(gone[1])
    assert told is not None
    assert told.inlinks == 1


def test_what_was_predicted_to_be_low_is_new_again(make: Make) -> None:
    frontier = bounded(make)
    frontier.push([Seed("http://a.cn/"), Seed("http://b.cn/")])
    low = [offer(f"http://low.cn/{n}", 0.0, 2) for n in range(30)]
    assert frontier.finish(lease_of(frontier, "http://a.cn/"), CRAWLED, low)
    counts = frontier.counts()
    assert counts["known"] <= 10
    assert counts["evicted/low-value"] + counts.get("error/low-value", 0) == 30
    gone = [one.url for one in low if frontier.why(one.url) is None]
    assert len(gone) == counts["evicted/low-value"]
    better = [offer(url, 0.5) for url in gone]
    assert frontier.finish(lease_of(frontier, "http://b.cn/"), CRAWLED, better)
    assert {lease.url for lease in frontier.pop(99)} == set(gone)


def test_a_crawl_that_moves_remembers_what_it_let_go(make: Make, elsewhere: Make) -> None:
    frontier = bounded(make)
    gone = let_go(frontier)
    entries = [from_line(to_line(entry)) for entry in frontier.export()]
    assert any(isinstance(entry, SeenEntry) for entry in entries)
    other = elsewhere(limits=Limits(max_known=10, seen_error=SURE))
    assert other.load(entries) == frontier.counts()["known"]
    told = {name: n for name, n in frontier.counts().items() if n}
    assert {name: n for name, n in other.counts().items() if n} == told
    assert other.push(map(Seed, gone)) == 0
    other.close()
    other = elsewhere()
    assert other.push(map(Seed, gone)) == 0
    assert not other.pop(9)


def test_a_long_crawl_keeps_to_its_bound_and_fetches_nothing_twice(make: Make) -> None:
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


def test_the_order_of_arrival_stays_while_records_are_let_go(make: Make) -> None:
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

"""Tests of actions of operators: requeue, forget, export and import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.lines import from_line
from tests.contracts.strategies import Best, Plain
from tests.contracts.test_frontier_order import crawl, drain, lease_of, offer
from topiccrawl.addons.queue_admin.export import to_line
from topiccrawl.errors import StateError, StateVersionError
from topiccrawl.frontier.contract import Download, Ending, Outcome, Politeness, Seed
from topiccrawl.frontier.entries import About, HostEntry, UrlEntry
from topiccrawl.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.contracts.conftest import Make
    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.frontier.entries import Entry

CRAWLED = Outcome(Ending.CRAWLED, relevance=0.75)
GONE = Outcome(Ending.ERROR, "http-404")
URL = "http://a.cn/1"
SLOW = Politeness(delay=2.0, jitter=0.0, adaptive=False, concurrency=1)


def exported(frontier: Frontier) -> Iterator[Entry]:
    """Entries of an export, written to lines and read again."""
    yield from map(from_line, [to_line(entry) for entry in frontier.export()])


@pytest.mark.parametrize("outcome", [CRAWLED, GONE])
def test_settled_url_is_fetched_again_after_requeue(make: Make, outcome: Outcome) -> None:
    frontier = make()
    frontier.push([Seed(URL, payload='"p"')])
    frontier.finish(lease_of(frontier, URL), outcome)
    assert frontier.requeue(URL)
    assert (frontier.counts()["crawled"], frontier.counts()["error"]) == (0, 0)
    assert not frontier.requeue(URL)
    (lease,) = frontier.pop()
    assert (lease.url, lease.payload, lease.attempts) == (URL, '"p"', 0)
    assert not frontier.requeue(URL)
    assert not frontier.requeue("http://a.cn/unknown")


def test_requeued_url_is_ordered_by_its_new_value(make: Make) -> None:
    frontier = make()
    others = [offer("http://a.cn/2", 0.5, 0), offer("http://a.cn/3", 0.9, 0)]
    crawl(frontier, offer(URL, 0.25), *others)
    frontier.finish(lease_of(frontier, URL), CRAWLED)
    assert frontier.requeue(URL, 0.75)
    assert drain(frontier) == ["http://a.cn/3", URL, "http://a.cn/2"]


def test_requeue_makes_rejected_and_waiting_urls_due(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/low", 0.125, 2), offer(URL, 0.5))
    later = Outcome(Ending.LATER, "timeout", not_before=make.clock() + 1000.0)
    frontier.finish(lease_of(frontier, URL), later)
    assert frontier.requeue("http://a.cn/low")
    assert frontier.requeue(URL)
    assert drain(frontier) == [URL, "http://a.cn/low"]


def test_forgotten_url_is_new_and_its_links_stay_counted(make: Make) -> None:
    frontier = make()
    frontier.push([Seed("http://p.cn/")])
    offers = [offer(URL, 0.5), offer("http://b.cn/", 0.25)]
    frontier.finish(lease_of(frontier, "http://p.cn/"), CRAWLED, offers)
    frontier.finish(lease_of(frontier, URL), CRAWLED, [offer("http://b.cn/", 0.25)])
    assert frontier.forget(URL)
    assert not frontier.forget(URL)
    assert frontier.why(URL) is None
    assert frontier.counts()["known"] == 2
    frontier.requeue("http://p.cn/")
    frontier.finish(lease_of(frontier, "http://p.cn/"), CRAWLED, offers)
    found = frontier.why(URL)
    assert found is not None
    assert (found.queue, found.inlinks) == ("normal", 1)
    frontier.finish(lease_of(frontier, URL), CRAWLED, [offer("http://b.cn/", 0.25)])
    found = frontier.why("http://b.cn/")
    assert found is not None
    assert found.inlinks == 2


def test_forget_makes_the_lease_stale_and_frees_the_host(make: Make) -> None:
    frontier = make(Politeness(delay=0.0, robots=False, adaptive=False, concurrency=1))
    frontier.push([Seed(URL), Seed("http://a.cn/2", 0.5)])
    (lease,) = frontier.pop(2)
    assert frontier.forget(URL)
    assert drain(frontier) == ["http://a.cn/2"]
    assert not frontier.finish(lease, CRAWLED, [offer("http://b.cn/", 0.5)])
    assert frontier.counts()["known"] == 1


def half_done(make: Make, frontier: Frontier) -> None:
    """Prepare a crawl with all states, robots.txt, a delay, groups and an open lease."""
    frontier.push([Seed("http://a.cn/", payload='"甲"')])
    lease = frontier.pop()[0]
    assert lease.kind is Kind.ROBOTS
    frontier.robots(lease, "User-agent: *\nDisallow: /no # 注".encode(), 200)
    make.clock += 2.0
    lease = lease_of(frontier, "http://a.cn/")
    frontier.downloaded(lease, Download(200, 0.1))
    pages = [offer(f"http://a.cn/{d}/{n}", n / 8, 1, "甲", "乙") for d in "xy" for n in range(6)]
    frontier.finish(lease, CRAWLED, [*pages, offer("http://a.cn/low", 0.125, 2),
                                     offer("http://a.cn/no/1", 0.5)])  # fmt: skip


def lease_all(make: Make, frontier: Frontier) -> list[tuple[str, float, int, str]]:
    """Lease and finish all URLs; return URL, value, depth and payload of each lease."""
    rows: list[tuple[str, float, int, str]] = []
    for _ in range(200):
        for lease in frontier.pop(3):
            rows.append((lease.url, round(lease.value, 9), lease.depth, lease.payload))
            if lease.kind is Kind.ROBOTS:
                frontier.robots(lease, None, 404)
            else:
                outcome = GONE if "/2" in lease.url else CRAWLED
                frontier.finish(lease, outcome, [offer("http://a.cn/x/1", 0.875, 0)])
        make.clock += 0.5
    return rows


def test_imported_crawl_continues_as_the_original(make: Make, make_other: Make) -> None:
    source = make(SLOW, strategy=Best())
    half_done(make, source)
    make.clock += 2.0
    frontier = make_other(SLOW, strategy=Best())
    assert frontier.load(exported(source)) == source.counts()["known"]
    assert frontier.counts() == source.counts()
    for url in ("http://a.cn/", "http://a.cn/x/1", "http://a.cn/low"):
        assert frontier.why(url) == source.why(url)
    now = make.clock.now
    continued = lease_all(make, frontier)
    make.clock.now = now
    assert continued == lease_all(make, source)
    assert len(continued) == 12
    assert frontier.counts() == source.counts()


def test_leased_url_is_exported_into_its_lane(make: Make, make_other: Make) -> None:
    source = make()
    source.push([Seed(URL)])
    assert source.pop()
    frontier = make_other()
    frontier.load(exported(source))
    assert frontier.counts()["prior"] == 1
    assert drain(frontier) == [URL]


def test_import_needs_an_empty_frontier_of_the_same_strategy(make: Make, make_other: Make) -> None:
    source = make()
    source.push([Seed(URL)])
    with pytest.raises(StateError, match="empty one"):
        source.load(exported(source))
    frontier = make_other(strategy=Best())
    with pytest.raises(StateVersionError, match="TOPICCRAWL_STRATEGY"):
        frontier.load(exported(source))
    with pytest.raises(StateError, match="begins with"):
        frontier.load([HostEntry("a.cn")])
    with pytest.raises(StateError, match="is empty"):
        frontier.load([])
    later = About(Best.name, Best.fields, format=2)
    with pytest.raises(StateVersionError, match="format 2"):
        frontier.load([later])
    with pytest.raises(StateVersionError, match="with evidence other"):
        frontier.load([About(Best.name, ("other",))])


def test_evidence_of_another_revision_is_imported_by_name(make: Make) -> None:
    frontier = make(strategy=Best())
    url = UrlEntry(URL, "prior", 1, 0.5, evidence=(3.0, 9.0))
    assert frontier.load([About(Best.name, ("parents", "removed")), HostEntry("a.cn"), url]) == 1
    entry = frontier.why(URL)
    assert entry
    assert entry.evidence == {"score": 0.0, "parents": 3.0}


def test_repeated_url_in_an_import_counts_once(make: Make) -> None:
    frontier = make()
    entries: list[Entry] = [About(Plain.name, Plain.fields), HostEntry("a.cn"),
               *[UrlEntry(URL, "prior", n, 0.5) for n in (1, 2)]]  # fmt: skip
    assert frontier.load(entries) == 1
    assert drain(frontier) == [URL]


def test_lease_has_the_texts_of_the_best_link(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer(URL, 0.25)._replace(anchor="甲", context="around"), url="http://p.cn/")
    crawl(frontier, offer(URL, 0.5)._replace(anchor="better", context="乙"), url="http://q.cn/")
    crawl(frontier, offer(URL, 0.125)._replace(anchor="worse", context="丙"), url="http://r.cn/")
    lease = lease_of(frontier, URL)
    assert (lease.anchor, lease.context) == ("better", "乙")

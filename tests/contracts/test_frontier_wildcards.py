"""Tests of wildcard domains: limits for the hosts of a page and of a registrable domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Download, Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from tests.contracts.conftest import Make
    from topiccrawl.model import Lease

CRAWLED = Outcome(Ending.CRAWLED)
LATER = Outcome(Ending.LATER, reason="download-timeout")
BOUNDED = Limits(max_page_hosts=20, max_domain_hosts=30)


def seeds(*urls: str) -> list[Seed]:
    return [Seed(url) for url in urls]


def offers(*hosts: str) -> list[Offer]:
    return [Offer(f"http://{host}/{path}", 1, (0.5, 0.0)) for path in "ab" for host in hosts]


def numbered(first: int, last: int, site: str = "wild.com.cn") -> list[str]:
    return [f"w{number}.{site}" for number in range(first, last)]


def test_page_adds_a_limited_number_of_new_hosts(make: Make) -> None:
    frontier = make(limits=BOUNDED)
    frontier.push(seeds("http://hub.cn/"))
    found = [f"a{number}.cn" for number in range(25)]
    frontier.finish(frontier.pop()[0], CRAWLED, offers("hub.cn", *found))
    counts = frontier.counts()
    assert counts["page-hosts"] == 2 * 5
    assert counts["known"] == 1 + 2 + 2 * 20
    assert frontier.why("http://a19.cn/b") is not None
    assert frontier.why("http://a20.cn/a") is None


def test_domain_host_limit_holds_over_pages_and_restarts(make: Make) -> None:
    frontier = make(limits=BOUNDED)
    frontier.push(seeds("http://one.cn/", "http://two.cn/", "http://three.cn/"))
    pages = frontier.pop(3)
    frontier.finish(pages[0], CRAWLED, offers(*numbered(0, 20)))
    frontier.finish(pages[1], CRAWLED, offers(*numbered(15, 35)))
    assert frontier.counts()["domain-hosts"] == 2 * 5
    frontier.close()
    frontier = make(limits=BOUNDED)
    frontier.push(seeds("http://four.cn/"))
    later = next(lease for lease in frontier.pop(60) if lease.url == "http://four.cn/")
    frontier.finish(later, CRAWLED, offers(*numbered(28, 32), "other.com.cn"))
    assert frontier.why("http://w29.wild.com.cn/a") is not None
    assert frontier.why("http://w30.wild.com.cn/a") is None
    assert frontier.why("http://other.com.cn/a") is not None


def test_seeds_but_not_redirects_exceed_the_domain_host_limit(make: Make) -> None:
    frontier = make(limits=BOUNDED)
    frontier.push(seeds(*(f"http://{host}/" for host in numbered(0, 30))))
    lease = frontier.pop()[0]
    frontier.finish(lease, Outcome(Ending.REDIRECTED, target="http://new.wild.com.cn/"), [])
    assert frontier.why("http://new.wild.com.cn/") is None
    assert frontier.push(seeds("http://mine.wild.com.cn/")) == 1


def test_total_host_limit_holds_over_restarts_except_for_seeds(make: Make) -> None:
    limits = Limits(max_hosts=10)
    frontier = make(limits=limits)
    frontier.push(seeds("http://hub.cn/", "http://hub.cn/2", "http://hub.cn/3"))
    first, second, third = frontier.pop(3)
    frontier.finish(first, CRAWLED, offers(*(f"a{number}.cn" for number in range(12))))
    assert frontier.counts()["all-hosts"] == 2 * 3
    frontier.finish(second, Outcome(Ending.REDIRECTED, target="http://new.cn/"), [])
    frontier.finish(third, CRAWLED, offers("a8.cn", "a9.cn"))
    assert frontier.why("http://new.cn/") is None
    frontier.close()
    frontier = make(limits=limits)
    assert frontier.push(seeds("http://mine.cn/")) == 1
    assert frontier.why("http://a8.cn/b") is not None
    assert frontier.why("http://a9.cn/a") is None


def test_zero_means_no_limit(make: Make) -> None:
    frontier = make(limits=Limits())
    frontier.push(seeds("http://hub.cn/"))
    frontier.finish(frontier.pop()[0], CRAWLED, offers(*numbered(0, 300)))
    assert frontier.counts()["known"] == 601


POLITE = Politeness(delay=1.0, jitter=0.0, adaptive=False, robots=False, domain_concurrency=8)


def test_slow_wildcard_domain_leaves_other_sites_their_share(make: Make) -> None:
    frontier = make(POLITE)
    frontier.push(seeds(*(f"http://{host}/" for host in numbered(0, 400))))
    frontier.push([Seed(f"http://healthy.cn/{number}", 0.1) for number in range(100)])
    in_flight: list[tuple[float, float, Lease]] = []
    requests = {"healthy": 0, "wild": 0}
    for _ in range(60):
        for end, seconds, lease in in_flight:
            if end <= make.clock():
                frontier.downloaded(lease, Download(200, seconds))
                frontier.finish(lease, CRAWLED, [])
        in_flight = [entry for entry in in_flight if entry[0] > make.clock()]
        while len(in_flight) < 16 and (leases := frontier.pop()):
            site = "healthy" if "healthy" in leases[0].url else "wild"
            requests[site] += 1
            seconds = 1.0 if site == "healthy" else 20.0
            in_flight.append((make.clock() + seconds, seconds, leases[0]))
        assert sum("wild" in lease.url for *_, lease in in_flight) <= 8
        make.clock += 1.0
    assert requests["healthy"] >= 58
    assert requests["wild"] >= 3 * 8


def test_pages_of_one_host_that_are_being_read_are_bounded(make: Make) -> None:
    frontier = make(POLITE)
    frontier.push([Seed(f"http://one.cn/{number}") for number in range(40)])
    frontier.push([Seed("http://healthy.cn/", 0.1)])
    opened: list[Lease] = []
    for _ in range(30):
        for lease in (found := frontier.pop(16 - len(opened))):
            frontier.downloaded(lease, Download(200, 0.1))
        opened += found
        make.clock += 1.0
    assert sum("one.cn" in lease.url for lease in opened) == POLITE.domain_concurrency
    assert any("healthy.cn" in lease.url for lease in opened)
    for lease in opened:
        frontier.finish(lease, CRAWLED, [])
    make.clock += 1.0
    assert frontier.pop()


def test_unfinished_pages_of_a_domain_are_bounded(make: Make) -> None:
    frontier = make(POLITE)
    frontier.push(seeds(*(f"http://{host}/" for host in numbered(0, 400))))
    frontier.push([Seed(f"http://healthy.cn/{number}", 0.1) for number in range(100)])
    waiting: list[Lease] = []
    requests = {"healthy": 0, "wild": 0}
    for _ in range(60):
        if waiting:
            frontier.finish(waiting.pop(0), CRAWLED, [])
        while len(waiting) < 16 and (leases := frontier.pop()):
            frontier.downloaded(leases[0], Download(200, 0.1))
            if "healthy" in leases[0].url:
                requests["healthy"] += 1
                frontier.finish(leases[0], CRAWLED, [])
            else:
                requests["wild"] += 1
                waiting.append(leases[0])
        assert len(waiting) <= 8 + 1
        make.clock += 1.0
    assert requests["healthy"] >= 58
    assert requests["wild"] >= 58


def test_silent_domains_leave_other_sites_their_share(make: Make) -> None:
    frontier = make(POLITE)
    frontier.push([Seed(f"http://healthy.cn/{number}", 0.1) for number in range(100)])
    in_flight = [(1.0, lease) for lease in frontier.pop()]
    frontier.push(seeds(*(f"http://silent{number}.cn/" for number in range(60))))
    requests = {"healthy": 1, "silent": 0}
    for _ in range(60):
        make.clock += 1.0
        for end, lease in in_flight:
            if end <= make.clock():
                frontier.downloaded(lease, Download(200 if "healthy" in lease.url else 0))
                frontier.finish(lease, CRAWLED if "healthy" in lease.url else LATER, [])
        in_flight = [entry for entry in in_flight if entry[0] > make.clock()]
        while len(in_flight) < 16 and (leases := frontier.pop()):
            site = "healthy" if "healthy" in leases[0].url else "silent"
            requests[site] += 1
            seconds = 1.0 if site == "healthy" else 30.0
            in_flight.append((make.clock() + seconds, leases[0]))
    assert requests["healthy"] >= 58
    assert requests["silent"] >= 24


def test_domain_limit_does_not_apply_to_a_single_host(make: Make) -> None:
    frontier = make(Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=16,
                               domain_concurrency=8))  # fmt: skip
    frontier.push([Seed(f"http://one.cn/{number}") for number in range(20)])
    assert len(frontier.pop(20)) == 16

"""Tests of politeness: delays, concurrency, back-off, leases, robots.txt, budgets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contracts.conftest import QUICK
from topiccrawl.frontier import dispatch
from topiccrawl.frontier.contract import (
    Download,
    Ending,
    Limits,
    Outcome,
    Politeness,
    Seed,
)
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.model import CHALLENGE, Kind, Offer

if TYPE_CHECKING:
    from tests.contracts.conftest import Make
    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.model import Lease

CRAWLED = Outcome(Ending.CRAWLED)
POLITE = Politeness(delay=1.0, jitter=0.0, adaptive=False, robots=False, concurrency=1)
ROBOTS = replace(POLITE, robots=True, delay=0.0)


def seeds(*urls: str) -> list[Seed]:
    return [Seed(url) for url in urls]


def urls(leases: list[Lease]) -> list[str]:
    return [lease.url for lease in leases]


def robots_lease(frontier: Frontier) -> Lease:
    """Pop the next lease, which must be for a robots.txt."""
    (lease,) = frontier.pop()
    assert lease.kind is Kind.ROBOTS
    return lease


def test_pages_with_very_many_links_delay_their_host(make: Make) -> None:
    frontier = make(POLITE)
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2", "http://b.cn/1", "http://b.cn/2"))
    for lease, links in zip(frontier.pop(9), (6000, 1000), strict=True):
        offers = [Offer(f"{lease.url}/{number}", 2, (0.1, 0.0)) for number in range(links)]
        frontier.finish(lease, CRAWLED, offers)
    make.clock += 1.0
    assert urls(frontier.pop(9)) == ["http://b.cn/2"]
    make.clock += 1.0
    assert "http://a.cn/2" not in urls(frontier.pop(9))
    make.clock += 1.0
    assert "http://a.cn/2" in urls(frontier.pop(9))


def test_delay_of_one_host_does_not_stop_another(make: Make) -> None:
    frontier = make(POLITE)
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2", "http://b.cn/1"))
    leases = frontier.pop(9)
    assert urls(leases) == ["http://a.cn/1", "http://b.cn/1"]
    for lease in leases:
        frontier.finish(lease, CRAWLED)
    assert frontier.next_due() == 1.0
    make.clock += 0.5
    assert frontier.pop(9) == []
    assert frontier.next_due() == 0.5
    make.clock += 0.5
    assert frontier.next_due() == 0.0
    assert urls(frontier.pop(9)) == ["http://a.cn/2"]


def test_requests_in_flight_are_bounded_by_concurrency(make: Make) -> None:
    frontier = make(replace(QUICK, concurrency=2))
    frontier.push(seeds(*[f"http://a.cn/{n}" for n in range(5)]))
    first, second = frontier.pop(9)
    assert frontier.pop(9) == []
    frontier.downloaded(first, Download(200, 0.1))
    frontier.downloaded(first, Download(200, 0.1))
    assert len(frontier.pop(9)) == 1
    frontier.finish(first, CRAWLED)
    assert frontier.pop(9) == []
    frontier.finish(second, CRAWLED)
    assert len(frontier.pop(9)) == 1


def test_hosts_can_have_their_own_delay_and_concurrency(make: Make) -> None:
    frontier = make(replace(POLITE, hosts={"a.cn": (5.0, 2), "b.cn": (None, None)}))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2", "http://b.cn/1"))
    assert len(frontier.pop(9)) == 2
    make.clock += 4.9
    assert frontier.pop(9) == []
    make.clock += 0.1
    assert urls(frontier.pop(9)) == ["http://a.cn/2"]


def test_acquired_slots_share_the_host_clock(make: Make) -> None:
    frontier = make(POLITE)
    assert frontier.acquire("A.cn")
    assert not frontier.acquire("a.cn")
    frontier.push(seeds("http://a.cn:8080/1"))
    make.clock += 1.0
    assert frontier.pop() == []
    frontier.release("a.cn")
    frontier.release("a.cn")
    frontier.release("unknown.cn")
    (lease,) = frontier.pop()
    make.clock += 1.0
    assert not frontier.acquire("a.cn")  # the page's slot is not free
    frontier.finish(lease, CRAWLED)
    assert frontier.acquire("a.cn")
    frontier.release("a.cn")
    assert not frontier.acquire("a.cn")  # the slot is free, but its time has not come
    make.clock += 1.0
    assert frontier.acquire("a.cn")


def test_the_delay_is_jittered_within_its_share(make: Make) -> None:
    frontier = make(replace(POLITE, delay=2.0, jitter=0.5))
    gaps = set()
    for n in range(30):
        frontier.push(seeds(f"http://a.cn/{n}"))
        frontier.finish(frontier.pop()[0], CRAWLED)
        frontier.push(seeds(f"http://a.cn/{n}/"))
        gap = frontier.next_due()
        assert gap is not None
        gaps.add(gap)
        make.clock += gap + 1e-6
        frontier.finish(frontier.pop()[0], CRAWLED)
        make.clock += 4.0
    assert min(gaps) >= 1.0
    assert max(gaps) <= 3.0
    assert len(gaps) > 20


def gap_after(frontier: Frontier, make: Make, download: Download, n: int) -> float:
    """Seconds until the host may be requested again after this immediate answer."""
    frontier.push(seeds(f"http://a.cn/{n}", f"http://a.cn/{n}/next"))
    make.clock += 10_000.0
    (lease,) = frontier.pop()
    frontier.downloaded(lease, download)
    frontier.finish(lease, CRAWLED)
    gap = frontier.next_due()
    assert gap is not None
    return gap


def test_the_delay_follows_the_latency_as_autothrottle_does(make: Make) -> None:
    frontier = make(replace(POLITE, delay=0.5, adaptive=True, start_delay=5.0, max_delay=8.0))
    gaps = [
        gap_after(frontier, make, Download(status, latency), n)
        for n, (status, latency) in enumerate(
            [(200, 1.0), (200, 1.0), (404, 0.1), (200, 20.0), (200, 0.1), (200, None)]
        )
    ]
    assert gaps == pytest.approx([5.0, 3.0, 2.0, 2.0, 8.0, 4.05])


def test_delay_counts_from_the_send_time_of_the_request(make: Make) -> None:
    frontier = make(replace(POLITE, delay=2.0))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    (lease,) = frontier.pop()
    make.clock += 1.5
    frontier.downloaded(lease, Download(200, 0.25))
    frontier.finish(lease, CRAWLED)
    assert frontier.next_due() == 1.75


def test_retry_after_and_server_errors_cause_back_off(make: Make) -> None:
    frontier = make(replace(POLITE, max_delay=30.0))
    answers = [Download(429, 0.1, 17.0), Download(503), Download(503), Download(503),
               Download(503), Download(200), Download(503), Download(429, None, 1e9)]  # fmt: skip
    gaps = [gap_after(frontier, make, answer, n) for n, answer in enumerate(answers)]
    assert gaps == [17.0, 4.0, 8.0, 16.0, 30.0, 1.0, 2.0, 3600.0]


def test_challenge_doubles_the_back_off_per_attempt_of_a_page(
    make: Make,
) -> None:
    frontier = make(replace(POLITE, delay=1.0))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    gaps = []
    for _ in range(4):
        (lease,) = frontier.pop()
        frontier.downloaded(lease, Download(200))
        frontier.finish(lease, Outcome(Ending.LATER, CHALLENGE))
        gaps.append(frontier.next_due() or 0.0)
        make.clock += gaps[-1]
    assert gaps == [2.0, 4.0, 8.0, 2.0]  # three attempts of the first page


def test_back_off_survives_a_restart(make: Make) -> None:
    frontier = make(POLITE)
    gap_after(frontier, make, Download(429, None, 100.0), 1)
    frontier.close()
    frontier = make(POLITE)
    assert frontier.pop() == []
    assert frontier.next_due() == 100.0


def test_retried_url_blocks_no_other_and_fails_at_the_limit(make: Make) -> None:
    frontier = make(limits=Limits(max_attempts=2))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    (lease,) = frontier.pop()
    later = Outcome(Ending.LATER, "timeout", not_before=make.clock.now + 60.0)
    frontier.finish(lease, later)
    assert frontier.counts()["prior"] == 2
    assert [reason for _, _, reason in frontier.iterate("prior")] == ["", "timeout"]
    frontier.finish(frontier.pop()[0], CRAWLED)
    assert frontier.next_due() == 60.0
    make.clock += 60.0
    (again,) = frontier.pop()
    assert (again.url, again.attempts, again.value) == (lease.url, 1, lease.value)
    frontier.finish(again, later)
    assert frontier.counts()["error/timeout"] == 1
    assert frontier.next_due() is None


def test_expired_lease_is_queued_again(make: Make) -> None:
    frontier = make(limits=Limits(lease_seconds=10.0, max_attempts=2))
    frontier.push(seeds("http://a.cn/1", "http://b.cn/1"))
    first, second = frontier.pop(2)
    assert frontier.next_due() == 10.0
    make.clock += 9.0
    frontier.extend([second])
    make.clock += 1.0
    (again,) = frontier.pop(2)
    assert (again.url, again.attempts) == ("http://a.cn/1", 1)
    assert not frontier.finish(first, CRAWLED)
    assert frontier.counts()["stale"] == 1
    assert frontier.finish(second, CRAWLED)
    make.clock += 10.0
    assert frontier.pop() == []
    assert frontier.counts()["error/lease-expired"] == 1


def test_expired_page_counts_in_the_budget_of_its_host(make: Make) -> None:
    frontier = make(limits=Limits(lease_seconds=10.0, max_attempts=1, max_host_pages=1))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    assert len(frontier.pop(2)) == 1
    make.clock += 10.0
    assert frontier.pop() == []
    assert frontier.counts()["error/host-budget"] == 1


def test_a_crawled_page_has_no_reason_of_an_earlier_failure(make: Make) -> None:
    frontier = make()
    frontier.push(seeds("http://a.cn/1"))
    frontier.finish(frontier.pop()[0], Outcome(Ending.LATER, "http-503"))
    frontier.finish(frontier.pop()[0], CRAWLED)
    found = frontier.why("http://a.cn/1")
    assert found is not None
    assert (found.queue, found.reason) == ("crawled", "")


def test_released_leases_are_no_attempts(make: Make) -> None:
    frontier = make()
    frontier.push(seeds("http://a.cn/1"))
    for _ in range(10):
        (lease,) = frontier.pop()
        assert lease.attempts == 0
        frontier.finish(lease, Outcome(Ending.RELEASED))


def test_a_host_has_a_budget_of_pages(make: Make) -> None:
    frontier = make(limits=Limits(max_host_pages=2))
    frontier.push(seeds(*[f"http://a.cn/{n}" for n in range(5)], "http://b.cn/1"))
    leases = frontier.pop(9)
    assert urls(leases) == ["http://a.cn/0", "http://a.cn/1", "http://b.cn/1"]
    frontier.finish(leases[0], Outcome(Ending.RELEASED))
    assert urls(frontier.pop(9)) == ["http://a.cn/0"]
    frontier.finish(leases[1], CRAWLED)
    assert frontier.pop(9) == []
    assert frontier.counts()["prior"] == 3


def test_robots_txt_is_fetched_first_and_once_per_origin(make: Make) -> None:
    frontier = make(replace(ROBOTS, concurrency=4))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/no/1", "https://a.cn/1", "http://b.cn/1"))
    leases = frontier.pop(9)
    assert urls(leases) == [
        "http://a.cn/robots.txt", "https://a.cn/robots.txt", "http://b.cn/robots.txt",
    ]  # fmt: skip
    frontier.robots(leases[1], None, 404)
    assert urls(frontier.pop(9)) == ["https://a.cn/1"]
    frontier.robots(leases[0], b"User-agent: topiccrawl\nDisallow: /no", 200)
    assert urls(frontier.pop(9)) == ["http://a.cn/1"]
    assert list(frontier.iterate("error")) == [("http://a.cn/no/1", 1.0, "robots")]
    frontier.robots(leases[0], None, 200)
    assert frontier.counts()["stale"] == 1


def test_one_call_refuses_a_limited_number_of_urls(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "MAX_REFUSALS", 3)
    frontier = make(ROBOTS)
    frontier.push(seeds(*(f"http://a.cn/no/{number}" for number in range(5)), "http://a.cn/1"))
    frontier.robots(robots_lease(frontier), b"User-agent: *\nDisallow: /no", 200)
    assert frontier.pop() == []
    assert frontier.counts()["error"] == 3
    assert urls(frontier.pop()) == ["http://a.cn/1"]


def test_robots_txt_uses_a_slot_and_sets_the_crawl_delay(make: Make) -> None:
    frontier = make(replace(ROBOTS, delay=1.0, crawl_delay_max=20.0))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    lease = robots_lease(frontier)
    assert not frontier.acquire("a.cn")
    frontier.downloaded(lease, Download(200, 0.1))
    frontier.robots(lease, b"User-agent: *\nCrawl-delay: 7", 200)
    make.clock += 1.0
    frontier.finish(frontier.pop()[0], CRAWLED)
    assert frontier.next_due() == 7.0
    frontier.close()
    make.clock += 7.0
    frontier = make(replace(ROBOTS, delay=1.0, crawl_delay_max=5.0))
    frontier.finish(frontier.pop()[0], CRAWLED)
    frontier.push(seeds("http://a.cn/3"))
    assert frontier.next_due() == 5.0


def test_unavailable_robots_txt_is_retried_up_to_the_limit(make: Make) -> None:
    politeness = replace(ROBOTS, robots_ttl=9000.0, robots_away=1000.0)
    frontier = make(politeness, Limits(max_attempts=3))
    frontier.push(seeds("http://a.cn/1", "http://b.cn/1"))
    for pause in (2.0, 4.0):
        for lease in frontier.pop(9):
            if lease.url == "http://a.cn/robots.txt":
                frontier.robots(lease, None, 503)
            elif lease.kind is Kind.ROBOTS:
                frontier.robots(lease, b"", 200)
            else:
                frontier.finish(lease, CRAWLED)
        for lease in frontier.pop(9):
            frontier.finish(lease, CRAWLED)
        assert frontier.next_due() == pause
        make.clock += pause
    frontier.robots(robots_lease(frontier), None, 0)
    assert frontier.pop(9) == []
    assert frontier.counts()["error/robots-unavailable"] == 1
    frontier.push(seeds("http://a.cn/2"))
    make.clock += 1000.0
    assert robots_lease(frontier).url == "http://a.cn/robots.txt"


def test_failed_robots_txt_gives_its_urls_the_last_cause(
    make: Make,
) -> None:
    frontier = make(ROBOTS, Limits(max_attempts=2))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    for cause in ("download-timeout", "cannot-resolve-host"):
        frontier.robots(robots_lease(frontier), None, 0, cause)
        make.clock += 2.0
    assert frontier.pop(1) == []
    frontier.close()
    frontier = make(ROBOTS, Limits(max_attempts=2))
    frontier.push(seeds("http://a.cn/3"))
    assert frontier.pop(9) == []
    assert frontier.counts()["error/cannot-resolve-host"] == 3
    found = frontier.why("http://a.cn/3")
    assert found is not None
    assert (found.queue, found.reason) == ("error", "cannot-resolve-host")


def test_requeue_fetches_an_unavailable_robots_txt_again(make: Make) -> None:
    frontier = make(ROBOTS, Limits(max_attempts=1))
    frontier.push(seeds("http://a.cn/1"))
    frontier.robots(robots_lease(frontier), None, 0)
    assert frontier.pop() == []
    make.clock += 10.0
    assert frontier.requeue("http://a.cn/1")
    assert frontier.pop() == []  # an unavailable robots.txt is fetched again after a minute
    make.clock += 50.0
    assert frontier.requeue("http://a.cn/1")
    frontier.close()
    frontier = make(ROBOTS, Limits(max_attempts=1))
    frontier.robots(robots_lease(frontier), b"", 200)
    assert urls(frontier.pop()) == ["http://a.cn/1"]


def test_expired_robots_txt_is_fetched_again_after_restart(make: Make) -> None:
    politeness = replace(ROBOTS, robots_ttl=100.0)
    frontier = make(politeness)
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2", "http://a.cn/no"))
    frontier.robots(robots_lease(frontier), b"User-agent: *\nDisallow: /no", 200)
    frontier.finish(frontier.pop()[0], CRAWLED)
    frontier.close()
    frontier = make(politeness)
    frontier.finish(frontier.pop()[0], CRAWLED)
    make.clock += 100.0
    frontier.robots(robots_lease(frontier), b"", 200)
    assert urls(frontier.pop()) == ["http://a.cn/no"]


@pytest.mark.parametrize("ending", [Ending.LATER, Ending.ERROR, Ending.RELEASED])
def test_a_robots_lease_may_end_without_an_answer(make: Make, ending: Ending) -> None:
    frontier = make(ROBOTS)
    frontier.push(seeds("http://a.cn/1"))
    assert frontier.finish(robots_lease(frontier), Outcome(ending))
    due = frontier.next_due()
    assert due == (0.0 if ending is Ending.RELEASED else 2.0)
    make.clock += due or 0.0
    assert robots_lease(frontier).url == "http://a.cn/robots.txt"


def test_expired_robots_lease_is_retried(make: Make) -> None:
    frontier = make(ROBOTS, Limits(lease_seconds=10.0))
    frontier.push(seeds("http://a.cn/1"))
    robots_lease(frontier)
    make.clock += 10.0
    assert frontier.pop() == []
    make.clock += 2.0
    assert robots_lease(frontier).attempts == 1


def test_a_page_named_robots_txt_is_a_page_too(make: Make) -> None:
    frontier = make(replace(ROBOTS, concurrency=2))
    frontier.push(seeds("http://a.cn/robots.txt"))
    frontier.robots(robots_lease(frontier), None, 404)
    (lease,) = frontier.pop()
    assert (lease.kind, lease.url) == (Kind.PAGE, "http://a.cn/robots.txt")


def test_rules_beyond_the_size_limit_of_robots_txt_are_ignored(make: Make) -> None:
    frontier = make(ROBOTS)
    frontier.push(seeds("http://a.cn/no"))
    frontier.robots(robots_lease(frontier), b"#" * 511_999 + b"\nUser-agent: *\nDisallow: /no", 200)
    assert urls(frontier.pop()) == ["http://a.cn/no"]


@given(body=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_robots_txt_of_any_bytes_is_accepted(
    body: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from tests.contracts.strategies import Plain  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("frontier")
    frontier = EmbeddedFrontier(folder, Plain(), ROBOTS, Limits(), clock=lambda: 1e6, sync="never")
    frontier.push(seeds("http://a.cn/1"))
    frontier.robots(robots_lease(frontier), b"User-agent: *\n" + body, 200)
    frontier.pop()
    assert frontier.counts()["prior"] == 0
    frontier.close()


def test_links_beyond_the_origin_limit_are_dropped_and_counted(make: Make) -> None:
    frontier = make()
    frontier.push(seeds("http://a.cn/"))
    links = [Offer(f"http://b.cn:{port}/", 1, (0.5, 0.0)) for port in range(1, 301)]
    frontier.finish(frontier.pop()[0], CRAWLED, links)
    assert frontier.counts()["origins"] == 44
    assert frontier.counts()["known"] == 257


def test_leased_request_waits_for_another_one_that_was_sent(make: Make) -> None:
    frontier = make(replace(POLITE, concurrency=2))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    frontier.pop(9)
    make.clock += 5.0  # the process stalled before it sent the first request
    assert urls(frontier.pop(9)) == ["http://a.cn/2"]
    assert frontier.waits("a.cn") == 0.0
    assert frontier.left("a.cn")
    make.clock += 0.25
    assert frontier.waits("a.cn") == pytest.approx(0.75)
    make.clock += 0.75
    assert frontier.waits("a.cn") == 0.0


def test_host_that_was_ready_waits_after_a_recorded_send(make: Make) -> None:
    frontier = make(replace(POLITE, concurrency=2))
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    frontier.pop()
    make.clock += 1.0
    assert frontier.pop(0) == []
    assert frontier.left("a.cn")
    assert frontier.pop() == []
    make.clock += 1.0
    assert urls(frontier.pop()) == ["http://a.cn/2"]


def test_delay_counts_from_the_recorded_send(make: Make) -> None:
    frontier = make(POLITE)
    frontier.push(seeds("http://a.cn/1", "http://a.cn/2"))
    (lease,) = frontier.pop(9)
    make.clock += 0.7  # a slow handshake
    assert frontier.left("a.cn")
    frontier.downloaded(lease, Download(200))
    make.clock += 0.9
    assert frontier.pop(9) == []
    make.clock += 0.1
    assert urls(frontier.pop(9)) == ["http://a.cn/2"]
    assert frontier.left("unknown.cn")
    assert frontier.waits("unknown.cn") == 0.0

"""Tests of hosts that answer to http and https: each URL is fetched with one scheme."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.contracts.conftest import QUICK
from tests.contracts.test_frontier_order import drain, lease_of, offer
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed

if TYPE_CHECKING:
    from tests.contracts.conftest import Make
    from topiccrawl.frontier.contract import Frontier

CRAWLED = Outcome(Ending.CRAWLED)
ROBOTS = replace(QUICK, robots=True)
HOME, SECURE = "http://a.cn/", "https://a.cn/"


def crawl(frontier: Frontier, url: str, *links: str) -> None:
    """Crawl a queued URL that links to others."""
    frontier.finish(lease_of(frontier, url), CRAWLED, [offer(link, 0.5) for link in links])


def inlinks(frontier: Frontier, url: str) -> int | None:
    found = frontier.why(url)
    return found and found.inlinks


def start(frontier: Frontier, *, plain: int = 404) -> None:
    """Queue both home pages; ``plain`` is the status of the robots.txt of the http origin."""
    frontier.push([Seed(HOME), Seed(SECURE)])
    for lease in frontier.pop(2):
        is_plain = lease.url.startswith("http:")
        frontier.robots(lease, None, plain if is_plain else 404, "download-timeout")


def test_queued_or_crawled_url_gets_the_links_of_its_twin(make: Make) -> None:
    frontier = make(ROBOTS)
    start(frontier)
    crawl(frontier, HOME, HOME + "1", HOME + "2")
    crawl(frontier, HOME + "1")
    crawl(frontier, SECURE, SECURE + "1", SECURE + "2", SECURE + "3", HOME + "3")
    assert [inlinks(frontier, f"{HOME}{n}") for n in (1, 2, 3)] == [2, 2, 1]
    assert [inlinks(frontier, f"{SECURE}{n}") for n in (1, 2, 3)] == [None, None, 1]
    crawl(frontier, HOME + "2", SECURE + "1", HOME + "1")
    assert inlinks(frontier, HOME + "1") == 3
    assert sorted(drain(frontier)) == [HOME + "3", SECURE + "3"]


def test_crawled_pages_are_enough_if_robots_txt_is_not_obeyed(make: Make) -> None:
    frontier = make()
    frontier.push([Seed(HOME), Seed(SECURE)])
    crawl(frontier, HOME, HOME + "1", HOME + "2")
    crawl(frontier, HOME + "1")
    crawl(frontier, SECURE, SECURE + "1", SECURE + "2")
    assert inlinks(frontier, SECURE + "1") is None
    assert inlinks(frontier, SECURE + "2") == 1


def test_a_failed_url_or_origin_does_not_hide_its_twin(make: Make) -> None:
    frontier = make(ROBOTS)
    start(frontier)
    crawl(frontier, HOME, HOME + "gone", HOME + "slow")
    frontier.finish(lease_of(frontier, HOME + "gone"), Outcome(Ending.ERROR, "http-404"))
    frontier.finish(lease_of(frontier, HOME + "slow"), Outcome(Ending.LATER, "timeout"))
    crawl(frontier, SECURE, SECURE + "gone", SECURE + "slow")
    assert [inlinks(frontier, SECURE + path) for path in ("gone", "slow")] == [1, 1]


def test_urls_of_an_origin_that_does_not_answer_do_not_hide_their_twins(make: Make) -> None:
    frontier = make(ROBOTS, Limits(max_attempts=1))
    start(frontier, plain=0)
    make.clock += 2.0
    (lease,) = frontier.pop(9)
    frontier.push([Seed("http://p.cn/")])
    frontier.robots(frontier.pop(9)[0], None, 404)
    crawl(frontier, "http://p.cn/", HOME + "1")
    frontier.finish(lease, CRAWLED, [offer(SECURE + "1", 0.5)])
    assert inlinks(frontier, SECURE + "1") == 1


def test_a_link_to_the_page_itself_with_the_other_scheme_is_queued(make: Make) -> None:
    frontier = make(ROBOTS)
    start(frontier)
    crawl(frontier, HOME, HOME + "moved")
    crawl(frontier, HOME + "moved", SECURE + "moved")
    assert inlinks(frontier, SECURE + "moved") == 1

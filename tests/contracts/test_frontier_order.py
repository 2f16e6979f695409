"""Tests of the order of URLs: values, arrival, lanes, groups, topics, redirects."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.contracts.strategies import Best, Counting
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed
from topiccrawl.links.strategies.contract import LEARNT
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from tests.contracts.conftest import Make
    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.model import Lease

CRAWLED = Outcome(Ending.CRAWLED)


def offer(url: str, score: float, lane: int = 1, anchor: str = "", context: str = "") -> Offer:
    return Offer(url, lane, (score, 0.0), anchor, context)


def crawl(frontier: Frontier, *offers: Offer, url: str = "http://seed.cn/") -> None:
    """Fetch a page that has these links."""
    frontier.push([Seed(url)])
    assert frontier.finish(lease_of(frontier, url), CRAWLED, offers)


def lease_of(frontier: Frontier, url: str) -> Lease:
    """Lease one URL, and release all others."""
    leases = {lease.url: lease for lease in frontier.pop(100)}
    wanted = leases.pop(url)
    for lease in leases.values():
        frontier.finish(lease, Outcome(Ending.RELEASED))
    return wanted


def drain(frontier: Frontier) -> list[str]:
    """Fetch all URLs; return them in the order of their leases."""
    urls = []
    while leases := frontier.pop():
        urls.append(leases[0].url)
        frontier.finish(leases[0], CRAWLED)
    return urls


def test_best_url_comes_first_over_all_hosts(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/1", 0.25), offer("http://b.cn/1", 0.5),
          offer("http://a.cn/2", 0.75))  # fmt: skip
    assert drain(frontier) == ["http://a.cn/2", "http://b.cn/1", "http://a.cn/1"]


def test_equal_values_are_served_in_order_of_arrival(make: Make) -> None:
    frontier = make()
    urls = [f"http://h{n * 7 % 5}.cn/{n}" for n in range(20)]
    frontier.push([Seed(url) for url in urls])
    assert drain(frontier) == urls


@pytest.mark.parametrize(
    ("share", "lanes"), [((1, 1), "npnpnp"), ((2, 1), "pnppnn"), ((1, 0), "pppnnn")]
)
def test_lanes_are_served_by_share_until_one_is_empty(
    make: Make, share: tuple[int, int], lanes: str
) -> None:
    frontier = make(share=share)
    crawl(frontier, *[offer(f"http://a.cn/p{n}", 0.25, 0) for n in range(3)],
          *[offer(f"http://a.cn/n{n}", 0.75, 1) for n in range(3)])  # fmt: skip
    assert "".join(url[12] for url in drain(frontier)) == lanes


@pytest.mark.parametrize(
    ("values", "lanes"), [((0.25, 0.75), "nnnnnpnp"), ((0.75, 0.25), "ppppnpnp")]
)
def test_within_the_slack_the_better_lane_comes_first(
    make: Make, values: tuple[float, float], lanes: str
) -> None:
    strategy = Best()
    strategy.slack = 2
    frontier = make(strategy=strategy)
    crawl(frontier, *[offer(f"http://a.cn/p{n}", values[0], 0) for n in range(8)],
          *[offer(f"http://a.cn/n{n}", values[1], 1) for n in range(8)])  # fmt: skip
    assert "".join(url[12] for url in drain(frontier))[:8] == lanes


def test_second_parent_changes_the_value_of_a_queued_url(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/1", 0.25), offer("http://a.cn/2", 0.5))
    crawl(frontier, offer("http://a.cn/1", 0.75), url="http://seed.cn/2")
    assert frontier.counts()["known"] == 4
    found = frontier.why("http://a.cn/1")
    assert found is not None
    assert found.inlinks == 2
    assert [url for url, _ in found.parents] == ["http://seed.cn/2", "http://seed.cn/"]
    assert [value for _, value in found.parents] == pytest.approx([0.75 + 1 / 64, 0.25 + 1 / 64])


def test_offer_raises_the_lane_and_never_lowers_it(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/1", 0.25, 1), offer("http://a.cn/2", 0.25, 0))
    crawl(frontier, offer("http://a.cn/1", 0.25, 0), offer("http://a.cn/2", 0.0, 2),
          url="http://seed.cn/2")  # fmt: skip
    assert {url for url, _, _ in frontier.iterate("prior")} == {"http://a.cn/1", "http://a.cn/2"}


def test_low_value_stays_in_the_error_queue_until_a_better_offer(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/1", 0.125, 2))
    ((url, value, reason),) = frontier.iterate("error")
    assert (url, reason) == ("http://a.cn/1", "low-value")
    assert value == pytest.approx(0.125 + 1 / 64)
    assert frontier.counts()["error/low-value"] == 1
    assert not frontier.pending()
    crawl(frontier, offer("http://a.cn/1", 0.25, 1), url="http://seed.cn/2")
    assert frontier.counts()["error"] == 0
    assert drain(frontier) == ["http://a.cn/1"]


def test_failed_url_is_not_queued_by_an_offer(make: Make) -> None:
    frontier = make()
    frontier.push([Seed("http://a.cn/1")])
    frontier.finish(frontier.pop()[0], Outcome(Ending.ERROR, "http-404"))
    crawl(frontier, offer("http://a.cn/1", 1.0, 0))
    assert drain(frontier) == []
    assert frontier.counts()["error/http-404"] == 1


def test_known_urls_are_not_pushed_again(make: Make) -> None:
    frontier = make()
    assert frontier.push([Seed("http://a.cn/1"), Seed("http://a.cn/1")]) == 1
    drain(frontier)
    assert frontier.push([Seed("http://a.cn/1")]) == 0


def test_lease_has_the_payload_of_the_seed(make: Make) -> None:
    frontier = make()
    frontier.push([Seed("http://a.cn/1", payload='{"site": "甲"}', depth=3)])
    lease = frontier.pop()[0]
    assert (lease.payload, lease.depth) == ('{"site": "甲"}', 3)


def test_link_counts_once_after_refetch_of_its_page(make: Make) -> None:
    frontier = make()
    frontier.push([Seed("http://a.cn/")])
    links = [offer("http://b.cn/1", 0.25), offer("http://b.cn/1", 0.75), offer("http://a.cn/", 1.0)]
    page = "http://a.cn/"
    frontier.finish(lease_of(frontier, page), Outcome(Ending.LATER, "timeout"), links)
    frontier.finish(lease_of(frontier, page), CRAWLED, [*links, offer("http://b.cn/2", 0.25)])
    for url in ("http://b.cn/1", "http://b.cn/2"):
        found = frontier.why(url)
        assert found is not None
        assert (found.inlinks, found.evidence["parents"]) == (1, 1.0)
    found = frontier.why("http://a.cn/")
    assert found is not None
    assert found.inlinks == 0


def test_relevance_of_a_group_reorders_its_urls(make: Make) -> None:
    frontier = make(strategy=Best())
    crawl(frontier, offer("http://a.cn/bad/1", 0.5), offer("http://a.cn/good/1", 0.5),
          offer("http://a.cn/bad/2", 0.5), offer("http://a.cn/good/2", 0.375))  # fmt: skip
    for _ in range(2):
        lease = frontier.pop()[0]
        frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=float("good" in lease.url)))
    leases = [frontier.pop()[0], frontier.pop()[0]]
    assert [lease.url for lease in leases] == ["http://a.cn/good/2", "http://a.cn/bad/2"]
    assert leases[0].value == pytest.approx(0.375 + 1 / 64 + 0.125)
    assert leases[1].value == pytest.approx(0.5 + 1 / 64 - 0.125)


def test_groups_beyond_the_limit_lose_no_url(make: Make) -> None:
    frontier = make(strategy=Best())
    urls = [f"http://a.cn/{n}/x" for n in range(300)]
    frontier.push([Seed(url) for url in urls])
    assert drain(frontier) == urls


def test_new_topic_rescores_the_head_of_the_queue(make: Make) -> None:
    strategy = Best()
    frontier = make(strategy=strategy)
    first, second = (
        offer("http://a.cn/1", 0.5, anchor="ab"),
        offer("http://a.cn/2", 0.25, anchor="a"),
    )
    crawl(frontier, first, second)
    strategy.version += 1
    values = [strategy.rescore((0.0, 1.0), link.anchor, "")[0] for link in (first, second)]
    assert values == [0.0, 0.375], "the new topic turns the order round"
    assert drain(frontier) == [second.url, first.url]


def test_learned_model_rescores_the_head_without_a_sweep(make: Make) -> None:
    strategy = Counting()
    frontier = make(strategy=strategy)
    links = [offer(f"http://a.cn/{n}", 0.25, anchor="a" * n) for n in range(1, 9)]
    crawl(frontier, *links)
    for _ in range(5):
        strategy.version += LEARNT
        assert frontier.sweep(100) == 0
    assert strategy.rescored == 0
    frontier.pop()
    assert 0 < strategy.rescored <= len(links)


def test_stale_links_of_a_page_are_re_scored_in_one_batch(make: Make) -> None:
    strategy = Counting()
    frontier = make(strategy=strategy)
    frontier.push([Seed("http://a.cn/"), Seed("http://b.cn/"), Seed("http://c.cn/1")])
    first, second, _ = sorted(frontier.pop(3))
    links = [offer(f"http://c.cn/{n}", 0.25, lane=n % 3, anchor="a" * n) for n in range(1, 9)]
    frontier.finish(first, CRAWLED, links[:6])
    strategy.version += LEARNT
    frontier.finish(second, CRAWLED, links)
    assert (strategy.batches[-1], strategy.rescored) == (6, 6)
    for link in links[1:6]:
        found = frontier.why(link.url)
        assert found is not None
        assert found.evidence["score"] == max(
            0.25, strategy.rescore((0.0,) * 2, link.anchor, "")[0]
        )


def test_changed_topic_requeues_low_values(make: Make) -> None:
    strategy = Counting()
    strategy.version += 3 * LEARNT
    frontier = make(strategy=strategy)
    crawl(frontier, offer("http://a.cn/1", 0.25, lane=2, anchor="a"))
    assert frontier.counts()["error"] == 1
    strategy.version += 1
    while frontier.sweep(1):
        pass
    assert strategy.rescored == 1
    assert drain(frontier) == ["http://a.cn/1"]


def test_redirect_passes_its_value_to_the_target(make: Make) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/1", 0.5))
    lease = frontier.pop()[0]
    moved = Outcome(Ending.REDIRECTED, target="http://b.cn/1", redirects=lease.redirects + 1)
    assert frontier.finish(lease, moved)
    target = frontier.pop()[0]
    assert target.url == "http://b.cn/1"
    assert target[4:8] == lease[4:8]
    assert (target.redirects, target.depth) == (1, 1)
    found = frontier.why("http://b.cn/1")
    assert found is not None
    assert found.path == ("http://seed.cn/", "http://a.cn/1", "http://b.cn/1")
    assert ("http://a.cn/1", lease.value, "redirected") in list(frontier.iterate("crawled"))


@pytest.mark.parametrize(("given", "kept"), [(None, "{1}"), ("", ""), ("{2}", "{2}")])
def test_a_redirect_keeps_the_payload_or_brings_its_own(
    make: Make, given: str | None, kept: str
) -> None:
    frontier = make()
    frontier.push([Seed("http://a.cn/1", payload="{1}")])
    outcome = Outcome(Ending.REDIRECTED, target="http://b.cn/1", redirects=1, payload=given)
    frontier.finish(frontier.pop()[0], outcome)
    assert [(lease.url, lease.payload) for lease in frontier.pop()] == [("http://b.cn/1", kept)]


@pytest.mark.parametrize("target", ["http://seed.cn/", "http://a.cn/1"])
def test_a_redirect_to_a_settled_page_or_to_itself_ends(make: Make, target: str) -> None:
    frontier = make()
    crawl(frontier, offer("http://a.cn/1", 0.5))
    frontier.finish(frontier.pop()[0], Outcome(Ending.REDIRECTED, target=target, redirects=1))
    assert not frontier.pending()
    assert frontier.counts()["crawled"] == 2


def test_depth_is_bounded_and_counted(make: Make) -> None:
    frontier = make(limits=Limits(max_depth=1))
    crawl(frontier, offer("http://a.cn/1", 0.5))
    frontier.finish(frontier.pop()[0], CRAWLED, [offer("http://a.cn/2", 1.0)])
    assert frontier.counts()["depth"] == 1
    assert frontier.counts()["known"] == 2


def test_why_reports_evidence_texts_and_path(make: Make) -> None:
    frontier = make(strategy=Best())
    crawl(frontier, offer("http://a.cn/d/1", 0.5, anchor="比亚迪", context="新能源"))
    found = frontier.why("http://a.cn/d/1")
    assert found is not None
    assert found.queue == "normal"
    assert found.evidence == {"score": 0.5, "parents": 1.0}
    assert (found.anchor, found.context) == ("比亚迪", "新能源")
    assert found.path == ("http://seed.cn/", "http://a.cn/d/1")
    assert (found.relevance, found.bias, found.depth) == (None, 0.0, 1)
    assert frontier.why("http://nowhere.cn/") is None


@pytest.mark.parametrize(("paged", "bias"), [(False, 0.125), (True, 0.0)])
def test_a_list_with_further_pages_does_not_count_in_its_directory(
    make: Make, *, paged: bool, bias: float
) -> None:
    frontier = make(strategy=Best())
    crawl(frontier, offer("http://a.cn/d/1", 0.5), offer("http://a.cn/d/2", 0.5))
    outcome = Outcome(Ending.CRAWLED, relevance=1.0, paged=paged)
    frontier.finish(lease_of(frontier, "http://a.cn/d/1"), outcome)
    found = frontier.why("http://a.cn/d/2")
    assert found is not None
    assert found.bias == bias


def test_a_lane_is_listed_best_first(make: Make) -> None:
    frontier = make()
    crawl(frontier, *[offer(f"http://a.cn/{n}", n % 5 / 8) for n in range(40)])
    values = [value for _, value, _ in frontier.iterate("normal")]
    assert values == sorted(values, reverse=True)
    assert len(values) == 40
    with pytest.raises(ValueError, match="no queue 'nothing'"):
        frontier.iterate("nothing")


def urls_of(leases: list[Lease]) -> list[str]:
    return [lease.url for lease in leases]


def test_closing_and_opening_again_changes_nothing(make: Make) -> None:
    frontier = make(strategy=Best())
    crawl(frontier, *[offer(f"http://h{n % 3}.cn/{n % 2}/{n}", n % 7 / 8) for n in range(40)])
    leased = frontier.pop(3)
    order = urls_of(leased)
    frontier.close()
    frontier.close()
    frontier = make(strategy=Best())
    assert frontier.counts()["leased"] == 0
    again = frontier.pop(3)
    assert sorted(urls_of(again)) == sorted(order)
    assert [lease.attempts for lease in again] == [0, 0, 0]
    assert not frontier.finish(leased[0], CRAWLED), "an epoch of the former process is stale"
    assert len(drain(frontier)) == 37


def test_best_returns_the_values_of_the_next_leases(make: Make) -> None:
    frontier = make()
    dice = random.Random(4)  # noqa: S311
    crawl(frontier, *(
        offer(f"http://h{n % 7}.cn/d{n % 3}/{n}", dice.random(), n % 2) for n in range(90)
    ))  # fmt: skip
    best = frontier.best(20)
    assert frontier.best(1_000) == sorted(frontier.best(1_000), reverse=True)
    assert best == frontier.best(1_000)[:20]
    assert len(frontier.best(1_000)) == 90
    taken = [lease.value for lease in frontier.pop(90)]
    assert sorted(taken, reverse=True)[:20] == pytest.approx(best)
    assert frontier.best(5) == []


def test_full_queue_refuses_low_values_until_they_rise(make: Make) -> None:
    frontier = make(limits=Limits(max_queued=8))
    crawl(frontier, *[offer(f"http://a.cn/{n}", 0.5) for n in range(8)])
    crawl(frontier, offer("http://a.cn/low", 0.25), offer("http://a.cn/high", 0.75),
          url="http://seed.cn/2")  # fmt: skip
    assert frontier.counts()["tail"] == 1
    assert frontier.why("http://a.cn/low") is None
    assert frontier.push([Seed("http://a.cn/seed", 0.0)]) == 1
    crawl(frontier, offer("http://a.cn/low", 0.625), offer("http://a.cn/0", 0.125),
          url="http://seed.cn/3")  # fmt: skip
    found = frontier.why("http://a.cn/low")
    assert found is not None
    assert found.inlinks == 1
    urls = drain(frontier)
    assert (urls[0], urls[2], len(urls)) == ("http://a.cn/high", "http://a.cn/low", 11)

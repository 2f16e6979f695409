"""Tests of a crawl on several nodes: shared hosts, dead and stopped nodes, lost answers."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import msgpack
import pytest
import redis

from tests.contracts.conftest import QUICK, Crew
from tests.contracts.strategies import Best, Plain
from tests.contracts.test_frontier_order import offer
from topiccrawl.addons.redis.crawl import read
from topiccrawl.addons.redis.frontier import SharedFrontier, discard
from topiccrawl.addons.redis.transport import Call
from topiccrawl.errors import StateLockedError, StateVersionError, StorageError
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed
from topiccrawl.model import Kind

if TYPE_CHECKING:
    from pathlib import Path

CRAWLED = Outcome(Ending.CRAWLED, relevance=0.5)
POLITE = replace(QUICK, delay=1.0, concurrency=1)
URLS = [f"http://h{n % 40}.cn/{n}" for n in range(160)]


def crawl(*nodes: SharedFrontier) -> list[list[str]]:
    """Fetch all URLs; return those of each node."""
    fetched: list[list[str]] = [[] for _ in nodes]
    while any(node.pending() for node in nodes):
        for node, urls in zip(nodes, fetched, strict=True):
            for lease in node.pop(3):
                urls.append(lease.url)
                assert node.finish(lease, CRAWLED)
            node.settle()
    return fetched


def test_nodes_share_hosts_evenly_without_overlap(crew: Crew) -> None:
    one, two = crew.join(), crew.join()
    one.push([Seed(url) for url in URLS])
    crew.settle()
    fetched = crawl(one, two)
    assert sorted(fetched[0] + fetched[1]) == sorted(URLS)
    assert not {url.split("/")[2] for url in fetched[0]} & {url.split("/")[2] for url in fetched[1]}
    assert min(map(len, fetched)) >= 0.4 * len(URLS)
    assert one.counts()["crawled"] == two.counts()["crawled"] == len(URLS)


def test_returning_hosts_reuse_their_ids(crew: Crew) -> None:
    one = crew.join()
    one.push([Seed(url) for url in URLS])
    expected, hosts = list(URLS), one.local.registry.hosts
    for turn in range(3):
        two = crew.join()
        crew.settle()
        new = [f"http://new{n}.cn/{turn}" for n in range(turn * 10, turn * 10 + 10)]
        one.push([Seed(url) for url in new])
        expected += new
        crew.settle()
        assert two.membership.partitions.served_count > 1
        two.close()
        crew.nodes.remove(two)
        crew.settle()
    assert [host.id for host in hosts] == list(range(40 + 3 * 10))
    assert {host.name for host in hosts} == {url.split("/")[2] for url in expected}
    (fetched,) = crawl(one)
    assert sorted(fetched) == sorted(expected)


def test_links_to_hosts_of_another_node_count_once(crew: Crew) -> None:
    one, two = crew.join(), crew.join()
    crew.settle()
    one.push([Seed("http://seed.cn/")])
    crew.settle()
    reader = one if one.why("http://seed.cn/") else two
    (lease,) = reader.pop(9)
    links = [offer(url, 0.5, anchor="锚") for url in URLS]
    later = Outcome(Ending.LATER, "timeout")
    assert reader.finish(lease, later, links)
    (lease,) = [lease for lease in reader.pop(500) if lease.url == "http://seed.cn/"]
    assert reader.finish(lease, CRAWLED, links)
    crew.settle()
    records = [[node.why(url) for url in URLS] for node in (one, two)]
    for mine, yours in zip(*records, strict=True):
        known = [found for found in (mine, yours) if found is not None]
        assert [(found.inlinks, found.anchor, found.depth) for found in known] == [(1, "锚", 1)]
    assert all(any(found is not None for found in at) for at in records)


def test_redirect_to_a_host_of_another_node_keeps_its_value(crew: Crew) -> None:
    one, two = crew.join(), crew.join()
    one.push([Seed(f"http://h{n}.cn/", payload="{1}") for n in range(20)])
    crew.settle()
    for lease in [*one.pop(99), *two.pop(99)]:
        node = one if one.why(lease.url) else two
        moved = Outcome(Ending.REDIRECTED, target=lease.url + "moved/", redirects=1)
        target = lease.url.replace("http://h", "http://other")
        assert node.finish(lease, moved._replace(target=target))
    crew.settle()
    leases = [*one.pop(99), *two.pop(99)]
    assert len(leases) == 20
    assert {(lease.value, lease.payload, lease.redirects) for lease in leases} == {(1.0, "{1}", 1)}


def test_urls_of_a_dead_node_are_fetched_after_the_delay(crew: Crew) -> None:
    one, two = crew.join(POLITE), crew.join(POLITE)
    one.push([Seed(url) for url in URLS])
    crew.settle()
    had = {lease.url.split("/")[2] for lease in one.pop(99)}
    lost = one.counts()["crawled"]
    one.commit()
    crew.kill(one)
    crew.settle()
    assert had
    assert not {lease.url.split("/")[2] for lease in two.pop(999)} & had, "they were just asked"
    crew.clock += 1.0
    assert had <= {lease.url.split("/")[2] for lease in two.pop(999)}
    assert two.counts()["known"] == len(URLS) + lost


def test_timed_out_node_is_refused_and_joins_again(crew: Crew) -> None:
    one, two = crew.join(), crew.join()
    one.push([Seed(url) for url in URLS])
    crew.settle()
    leases = one.pop(5)
    assert leases
    crew.time_out(one)
    crew.settle(two)
    assert two.counts()["prior"] == len(URLS)
    assert not one.finish(leases[0], CRAWLED) or two.counts()["crawled"] == 0
    crew.settle()
    assert one.counts()["fenced"] == 1
    assert not any(one.finish(lease, CRAWLED) for lease in leases[1:])
    fetched = crawl(one, two)
    assert sorted(fetched[0] + fetched[1]) == sorted(URLS), "the refused page is fetched again"


def test_node_that_leaves_while_claiming_keeps_no_buckets(crew: Crew) -> None:
    one, two = crew.join(), crew.join()
    crew.settle()
    one.push([Seed(url) for url in URLS])
    crew.settle()
    crew.kill(one)
    two._exchange(look=True)  # times the other node out, and decides to take its buckets
    assert not two.membership.partitions.idle()
    crew.nodes.remove(two)
    two.close()
    three = crew.join()
    crew.settle()
    (fetched,) = crawl(three)
    assert sorted(fetched) == sorted(URLS)


def test_late_copy_of_a_batch_claims_no_buckets(crew: Crew) -> None:
    one, two = crew.join(), crew.join()
    one.push([Seed(url) for url in URLS])
    crew.settle()
    one.close()
    crew.nodes.remove(one)
    member = two.membership
    batch = msgpack.packb({"take": list(range(256))})
    late = (member.epoch, 1, 10_000, 0, 0, batch, member._born)
    before = crew.client.hgetall(f"{two.base}claims")
    Call("exchange", two.base, late).on(crew.client)
    assert len(before) < 256
    assert crew.client.hgetall(f"{two.base}claims") == before
    crew.settle()
    (fetched,) = crawl(two)
    assert sorted(fetched) == sorted(URLS)


def test_node_loads_buckets_claimed_without_its_knowledge(crew: Crew) -> None:
    one = crew.join()
    one.push([Seed(url) for url in URLS])
    crew.settle()
    two = crew.join()
    one.close()
    crew.nodes.remove(one)
    for bucket in range(256):
        crew.client.hset(f"{two.base}claims", str(bucket), str(two.membership.epoch))
    crew.client.delete(f"{two.base}left")
    crew.settle()
    (fetched,) = crawl(two)
    assert sorted(fetched) == sorted(URLS)


def test_buckets_of_an_unregistered_node_are_taken_over(crew: Crew) -> None:
    one = crew.join()
    one.push([Seed(url) for url in URLS])
    crew.settle()
    crew.nodes.remove(one)
    one.close()
    for bucket in range(0, 256, 2):
        crew.client.hset(f"{one.base}claims", str(bucket), "999")
    two = crew.join()
    crew.settle()
    (fetched,) = crawl(two)
    assert sorted(fetched) == sorted(URLS)


def test_node_with_an_uncertain_registration_serves_nothing(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed("http://a.cn/")])
    assert node.acquire("b.cn")
    node.membership.safe_until = 0.0
    node._attached = False
    assert node.pop() == []
    assert not node.acquire("b.cn")
    assert node.next_due() is None
    node._attached = True
    node.settle()
    assert len(node.pop()) == 1


def test_joining_node_gets_its_buckets_when_leases_have_ended(crew: Crew) -> None:
    one = crew.join()
    one.push([Seed(url) for url in URLS])
    leases = one.pop(999)
    two = crew.join()
    crew.settle()
    assert two.pop(999) == []
    hosts = [f"h{n}.cn" for n in range(40)]
    assert all(one.acquire(host) for host in hosts), "open leases may send requests"
    one.push([Seed(f"http://{host}/") for host in hosts])
    more = one.pop(999)
    assert len(more) < len(hosts), "pages of hosts that move are not leased"
    for host in hosts:
        one.release(host)
    for lease in leases + more:
        one.finish(lease, Outcome(Ending.RELEASED))
    crew.settle()
    counts = [len(node.pop(999)) for node in (one, two)]
    assert sum(counts) == len(URLS) + len(hosts)
    assert min(counts) >= 0.4 * len(URLS)


def test_seen_filters_move_with_their_hosts(crew: Crew) -> None:
    few = Limits(max_known=20, seen_error=1e-6)
    one = crew.join(limits=few)
    one.push([Seed(url) for url in URLS])
    crawl(one)
    counts = one.counts()
    assert counts["known"] <= 20
    assert counts["evicted/crawled"] == len(URLS) - counts["known"]
    two = crew.join(limits=few)
    for ended in ((), (one,)):
        for node in ended:
            crew.kill(node)
        crew.settle()
        for node in crew.nodes:
            node.push([Seed(url) for url in URLS])
        crew.settle()
        assert crawl(*crew.nodes) == [[] for _ in crew.nodes]
    assert two.counts()["evicted/crawled"] == counts["evicted/crawled"]
    gone = [url for url in URLS if (known := two.why(url)) is None or known.queue != "crawled"]
    with closing(read(crew.client, "crew", Plain())) as view:
        records = [view.why(url) for url in gone]
    assert [known.queue for known in records if known is not None] == ["seen"] * len(gone)


def test_evidence_with_other_fields_is_not_read(crew: Crew) -> None:
    crew.join()
    key = "{topiccrawl:crew}:about"
    about = json.loads(crew.client.get(key) or "")
    crew.client.set(key, json.dumps({**about, "fields": ["age", *about["fields"]]}))
    with pytest.raises(StateVersionError, match="this one needs"):
        read(crew.client, "crew", Plain())


def test_robots_txt_back_off_and_statistics_move_with_the_host(crew: Crew) -> None:
    obey = replace(POLITE, robots=True, concurrency=2)
    one = crew.join(obey)
    one.push([Seed("http://a.cn/1"), Seed("http://a.cn/no")])
    (lease,) = one.pop(9)
    assert lease.kind is Kind.ROBOTS
    one.robots(lease, b"User-agent: *\nDisallow: /no\nCrawl-delay: 5", 200)
    one.close()
    two = crew.join(obey)
    assert two.pop(9) == [], "the delay is still to be kept"
    crew.clock += 1.0
    assert [lease.url for lease in two.pop(9)] == ["http://a.cn/1"]
    assert two.next_due() == 5.0
    crew.clock += 5.0
    assert two.pop(9) == []
    assert two.counts()["error/robots"] == 1


def test_a_batch_whose_answer_was_lost_counts_once(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    node.membership._flight, node.membership._number = (
        node.membership._batch(look=False),
        node.membership._number + 1,
    )
    steps = node.membership.exchange(look=False)
    next(steps).on(crew.client)  # Redis applied it; the answer is lost
    steps.close()
    node.settle()
    assert node.counts()["known"] == len(URLS)
    node.close()
    crew.nodes.clear()
    assert crew.join().counts()["known"] == len(URLS)


def test_batch_that_arrives_after_its_successor_is_ignored(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    node.membership._flight, node.membership._number = (
        node.membership._batch(look=False),
        node.membership._number + 1,
    )
    steps = node.membership.exchange(look=False)
    late = next(steps)  # delayed in its connection; sent again by the node
    steps.close()
    node.settle()
    for lease in node.pop(9):
        node.finish(lease, CRAWLED)
    node.settle()
    late.on(crew.client)
    node.close()
    crew.nodes.clear()
    again = crew.join()
    assert (again.counts()["known"], again.counts()["crawled"]) == (len(URLS), 9)
    assert len(list(again.iterate("crawled"))) == 9
    again.settle()
    assert not again.counts().get("fenced", 0)


def test_other_strategy_and_crawl_in_use_are_refused(crew: Crew, tmp_path: Path) -> None:
    crew.join()
    with pytest.raises(StateLockedError, match="1 node"):
        discard(crew.client, "crew")
    with pytest.raises(StateVersionError, match="fresh"):
        SharedFrontier(crew.client, "crew", tmp_path / "x", Best(), QUICK, Limits())


def test_unreachable_server_is_named_without_its_password(tmp_path: Path) -> None:
    client = redis.Redis.from_url("redis://:secret@127.0.0.1:9/3")
    with pytest.raises(StorageError, match=r"redis://127\.0\.0\.1:9/3") as caught:
        SharedFrontier(client, "crew", tmp_path, Plain(), QUICK, Limits())
    assert "secret" not in str(caught.value)


def test_node_ends_if_the_server_lost_the_crawl(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed("http://a.cn/")])
    crew.nodes.clear()
    crew.client.flushdb()
    with pytest.raises(StorageError, match="appendonly"):
        node.settle()
    node.abandon()
    crew.client.flushdb()


def test_every_node_detects_that_the_server_lost_the_crawl(crew: Crew) -> None:
    nodes = [crew.join(), crew.join()]
    crew.settle()
    crew.nodes.clear()
    crew.client.flushdb()
    for node in nodes:
        with pytest.raises(StorageError, match="appendonly"):
            node.settle()
        with pytest.raises(StorageError, match="appendonly"):
            node.close()
    assert not crew.client.exists(f"{nodes[0].base}about")
    crew.client.flushdb()


def test_lost_answer_to_a_bucket_release_keeps_the_node(crew: Crew) -> None:
    one = crew.join()
    one.push([Seed(url) for url in URLS])
    leases = one.pop(999)
    two = crew.join()
    crew.settle()
    one._attached = False
    for lease in leases:
        one.finish(lease, CRAWLED)
    steps = one.converse(look=False)
    next(steps).on(crew.client)  # Redis applied it; the answer is lost
    steps.close()
    one._attached = True
    crew.settle()
    assert (one.counts().get("fenced", 0), one.counts()["crawled"]) == (0, len(URLS))
    assert two.membership.view.claims
    assert one.membership.view.nodes == (one.membership.epoch, two.membership.epoch)


def test_pending_messages_do_not_block_changes_by_operators(crew: Crew) -> None:
    one, two = crew.join(), crew.join()
    crew.settle()
    two.close()
    one._attached = False
    one.push([Seed(f"http://h{n % 40}.cn/{n}") for n in range(4_000)])
    one.close()  # its last messages are for the other node
    crew.nodes.clear()
    assert crew.client.scard(f"{one.base}post")
    late = crew.join()
    assert late.membership.is_only_node()
    assert late.counts()["prior"] == 4_000


def test_reader_that_is_no_node_sees_the_whole_crawl(crew: Crew) -> None:
    one = crew.join()
    crew.join()
    one.push([Seed(url) for url in URLS])
    crew.settle()
    (lease,) = one.pop(1)
    one.finish(lease, CRAWLED, [offer(url, 0.5, anchor="锚") for url in URLS])
    held = len(one.pop(3))
    crew.settle()
    with closing(read(crew.client, "crew", Plain())) as view:
        assert view.counts()["prior"] == len(URLS) - 1
        assert (view.counts()["crawled"], view.counts()["known"]) == (1, len(URLS))
        found = view.why(next(url for url in URLS if url != lease.url))
        assert found is not None
        assert (found.inlinks, found.parents[0][0]) == (1, lease.url)
        assert sum(1 for _ in view.export()) > len(URLS)
    assert crew.client.zcard(f"{one.base}nodes") == 2
    assert held == 3


def test_node_that_may_have_timed_out_sends_no_request(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(URLS[0])])
    (lease,) = node.pop()
    host = lease.url.split("/")[2]
    assert node.left(host)
    node.membership.safe_until = 0.0  # as after a long stop
    assert not node.left(host)


def test_many_rows_move_to_a_joining_node_in_small_pieces(crew: Crew) -> None:
    one = crew.join()
    urls = {f"http://h{n % 300}.cn/{n}" for n in range(3000)}
    one.push([Seed(url) for url in urls])
    for lease in one.pop(150):
        later = crew.clock.now + 100.0
        one.finish(lease, Outcome(Ending.LATER, reason="busy", not_before=later))
    one.settle()
    two = crew.join()
    sizes: list[int] = []
    while not sizes or len(sizes) < 2 or sizes[-1] != sizes[-2]:
        one._exchange(look=True)
        sizes.append(sum(one.local.queues.sizes()))
    pieces = [before - after for before, after in pairwise(sizes)]
    assert max(pieces) < 700
    assert sizes[0] - sizes[-1] > 1000
    crew.settle()
    assert sum(one.local.queues.sizes()) + sum(two.local.queues.sizes()) == len(urls)
    crew.clock += 200.0
    fetched = [lease.url for node in (one, two) for lease in node.pop(5000)]
    assert sorted(fetched) == sorted(urls)


def test_node_whose_folder_was_deleted_closes_with_one_error(crew: Crew) -> None:
    node = crew.join()
    node.push([Seed(url) for url in URLS])
    shutil.rmtree(node.local.store.path)
    with pytest.raises(StorageError, match=r"cannot be written .*data\.mdb"):
        node.close()
    assert not node.local.store.is_open
    crew.kill(node)  # the others take its hosts when it times out

"""Tests of a Redis that lost data.

Nodes of a lost crawl end, also if a new crawl began. They continue from an older state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Seed

if TYPE_CHECKING:
    from tests.contracts.conftest import Crew
    from topiccrawl.addons.redis.frontier import SharedFrontier


@pytest.mark.parametrize("others", [0, 1, 3])
def test_node_of_a_lost_crawl_does_not_join_a_new_one(crew: Crew, others: int) -> None:
    node = crew.join()
    node.push([Seed("http://a.cn/1")])
    node.settle()
    crew.client.flushall()
    for _ in range(others):
        crew.kill(crew.join())
    with pytest.raises(StorageError, match=r"[^:]: Redis has lost the data of this crawl"):
        _settle_repeatedly(node)
    crew.nodes.remove(node)
    node.abandon()


@pytest.mark.parametrize("nodes", [1, 2])
def test_nodes_continue_from_an_older_state_of_redis(crew: Crew, nodes: int) -> None:
    crewed = [crew.join() for _ in range(nodes)]
    last = crewed[-1]
    urls = [f"http://h{n}.cn/" for n in range(20)]
    last.push([Seed(url) for url in urls[:10]])
    crew.settle()
    saved = {key: crew.client.dump(key) or b"" for key in crew.client.keys("{topiccrawl*")}
    last.push([Seed(url) for url in urls[10:]])
    crew.settle()
    crew.client.delete(*crew.client.keys("{topiccrawl*"))
    for key, value in saved.items():
        crew.client.restore(key, 0, value)
    epochs = [node.membership.epoch for node in crewed]
    crew.settle()
    crew.client.zadd("{topiccrawl:crew}:nodes", dict.fromkeys(map(str, epochs), 0), xx=True)
    crew.settle()
    last.push([Seed(url) for url in urls])
    crew.settle()
    assert sum(sum(node.local.queues.sizes()) for node in crewed) == len(urls)
    rows = crew.client.scan_iter("{topiccrawl:crew}:rows:*")
    assert sum(map(crew.client.hlen, rows)) == len(urls)


def _settle_repeatedly(node: SharedFrontier) -> None:
    for _ in range(9):
        node.settle()

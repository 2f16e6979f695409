"""Test of a Redis that lost its data: nodes of the lost crawl end, also if a new crawl began."""

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


def _settle_repeatedly(node: SharedFrontier) -> None:
    for _ in range(9):
        node.settle()

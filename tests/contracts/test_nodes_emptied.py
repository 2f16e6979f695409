"""Redis comes back empty: a node of the lost crawl ends, whatever began there meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Seed

if TYPE_CHECKING:
    from tests.contracts.conftest import Crew
    from topiccrawl.addons.redis.frontier import SharedFrontier


@pytest.mark.parametrize("others", [0, 1, 3])
def test_a_node_never_goes_on_in_a_crawl_that_began_after_its_own_was_lost(
    crew: Crew, others: int
) -> None:
    node = crew.join()
    node.push([Seed("http://a.cn/1")])
    node.settle()
    crew.client.flushall()
    for _ in range(others):
        crew.kill(crew.join())
    with pytest.raises(StorageError, match="has lost the data of this crawl"):
        _go_on(node)
    crew.nodes.remove(node)
    node.abandon()


def _go_on(node: SharedFrontier) -> None:
    for _ in range(9):
        node.settle()

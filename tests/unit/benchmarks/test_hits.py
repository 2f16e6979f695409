"""Test of reading a trial server's requests while it answers."""

from __future__ import annotations

import http.client
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from benchmarks.nodes_trial import EvenWeb, Node
from benchmarks.tasks import EqualSites

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REQUESTS = 1500


@pytest.fixture(autouse=True)
def _switch_threads_often() -> Iterator[None]:
    seconds = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(seconds)


@pytest.mark.parametrize("kind", ["tasks", "nodes"])
def test_hits_are_read_while_the_server_answers(kind: str, tmp_path: Path) -> None:
    web = EqualSites(9) if kind == "tasks" else EvenWeb(2, 9)
    node = Node(3, tmp_path, web, 0.0)
    urls = [f"http://site.example/{number}" for number in range(REQUESTS)]
    with node.server:
        client = threading.Thread(target=_request, args=(node.server.port, urls))
        client.start()
        while client.is_alive():
            assert all(hit.began <= hit.ended for hit in node.hits())
        hits = list(node.hits())
    assert [hit.url for hit in hits] == urls
    assert {hit.node for hit in hits} == {3}


def _request(port: int, urls: list[str]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for url in urls:
        connection.request("GET", url)
        connection.getresponse().read()
    connection.close()

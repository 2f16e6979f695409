"""Queue in memory for further requests of open leases, which wait for their host.

A redirect to the same page with a cookie, or of a robots.txt, goes on with its lease; it is one
more request to its host. If the process dies, the lease returns to its queue.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from topiccrawl.links.urls import host_of

if TYPE_CHECKING:
    from scrapy import Request

    from topiccrawl.frontier.contract import Frontier


class SideQueue:
    """Requests per host, first come, first served, under the frontier's clocks."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self._hosts: dict[str, deque[Request]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._hosts.values()))

    def push(self, request: Request) -> None:
        """Add a request at the end of its host's line."""
        self._hosts.setdefault(host_of(request.url), deque()).append(request)

    def pop(self) -> tuple[Request, str] | None:
        """Return a request whose host is allowed now and the host whose clock it holds, or None."""
        for host, line in list(self._hosts.items()):
            if self.frontier.acquire(host):
                request = line.popleft()
                del self._hosts[host]
                if line:
                    self._hosts[host] = line  # to the end, so that hosts take turns
                return request, host
        return None

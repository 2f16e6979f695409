"""Bounds of hosts: sites whose every name is a host must not fill the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier import rows
from topiccrawl.links.urls import site_of

if TYPE_CHECKING:
    from topiccrawl.frontier.contract import Limits
    from topiccrawl.frontier.hosts import Place
    from topiccrawl.frontier.queues import Queues


class HostBounds:
    """Gate for hosts that pages name; those of seeds do not pass through it.

    Args:
        queues: Hosts, and the tally of what is dropped.
        limits: For the bounds.
    """

    def __init__(self, queues: Queues, limits: Limits) -> None:
        self._queues = queues
        self._most_page = limits.max_page_hosts
        self._most_domain = limits.max_domain_hosts

    def place(self, url: str, hosts: set[str]) -> Place | None:
        """Return the place of a URL; None (counted) where its host is one too many.

        Args:
            url: A link, or the target of a redirect.
            hosts: New hosts of the page so far; a further one is added.
        """
        name = rows.host_of(rows.split_origin(url)[1])
        if self._queues.places.find_host(name) is None:
            if reason := self._refusal(name, len(hosts)):
                self._queues.tally[reason] += 1
                return None
            hosts.add(name)
        return self._queues.place(url)

    def _refusal(self, name: str, hosts: int) -> str:
        if 0 < self._most_page <= hosts:
            return "page-hosts"
        if 0 < self._most_domain <= self._queues.places.domains[site_of(name)]:
            return "domain-hosts"
        return ""

"""Allowed and denied hosts of a topic."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from topiccrawl.links.urls import canonical, host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.links.addresses import AddressRules
    from topiccrawl.links.urlrules import UrlRules

_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)*")


def normalize_host(text: str) -> str:
    """Normalize a host name from user input to its form in canonical URLs; "" if invalid.

    >>> normalize_host("News.例子.中国."), normalize_host("a.test:80"), normalize_host("*.test")
    ('news.xn--fsqu00a.xn--fiqs8s', '', '')
    """
    bare = text.strip().strip(".")
    url = canonical(f"http://{bare}/") if _NAME.fullmatch(bare) else None
    return host_of(url or "")


class HostRules:
    """Rules for hosts; a rule covers a host and its subdomains, and denied wins over allowed.

    Args:
        allowed: Hosts or domains; empty allows all.
        denied: Hosts or domains.
        urls: Rules for URLs on allowed hosts.
        addresses: Rules for private addresses; None allows them.

    >>> rules = HostRules(["qq.com"], ["video.qq.com"])
    >>> rules.refuse("http://sports.qq.com/a"), rules.refuse("http://v.video.qq.com/a")
    (None, 'host-denied')
    >>> rules.refuse("http://notqq.com/")
    'host-not-allowed'
    """

    def __init__(
        self,
        allowed: Iterable[str],
        denied: Iterable[str],
        urls: UrlRules | None = None,
        addresses: AddressRules | None = None,
    ) -> None:
        self.allowed = frozenset(allowed)
        self.denied = frozenset(denied)
        self.urls = urls
        self.addresses = addresses

    def refuse(self, url: str) -> str | None:
        """Return the reason why a URL must not be crawled, or None."""
        names = _with_parents(host_of(url))
        if not self.denied.isdisjoint(names):
            return "host-denied"
        if self.allowed and self.allowed.isdisjoint(names):
            return "host-not-allowed"
        if self.addresses and self.addresses.refuses(url):
            return "private-address"
        return self.urls.refuse(url) if self.urls else None


@lru_cache(maxsize=4096)  # the links of a page lead to few hosts
def _with_parents(host: str) -> frozenset[str]:
    """Return a host and its parent domains.

    >>> sorted(_with_parents("a.b.test"))
    ['a.b.test', 'b.test', 'test']
    """
    labels = host.split(".")
    return frozenset(".".join(labels[start:]) for start in range(len(labels)))

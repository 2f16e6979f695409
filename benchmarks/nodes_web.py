"""A web of hosts that are all alike: what a crawl of several nodes can gain from."""

from __future__ import annotations

from typing import NamedTuple

from lab.demo.answers import Answer


class EvenWeb:
    """Hosts of equal size that only take time: what a crawl of several nodes can gain from.

    Attributes:
        topic, seeds, truth, obtainable: As a demo web has them.
    """

    def __init__(self, hosts: int, pages: int, topic: str = "新能源汽车") -> None:
        self.topic = topic
        self._links = [f"http://even{n}.example/" for n in range(hosts)]
        self._pages = pages
        self.seeds = (self._links[0],)
        urls = [*self._links, *(f"{home}{n}" for home in self._links for n in range(pages - 1))]
        self.truth = {url: Even(url) for url in urls}
        self.obtainable = tuple(urls)

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """The home pages link to each other and to their own pages."""
        if url not in self.truth:
            return Answer(404)
        own = [f"{url}{n}" for n in range(self._pages - 1)] if url in self._links else []
        links = "".join(f'<a href="{to}">新能源汽车 {to}</a> ' for to in (*own, *self._links))
        body = f"<html><title>新能源汽车</title><body>新能源汽车 {url} {links}</body></html>"
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), body.encode())


class Even(NamedTuple):
    """The truth of one of its pages."""

    url: str
    obtainable: bool = True

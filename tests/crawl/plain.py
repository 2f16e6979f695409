"""A spider without a topic, as any Scrapy project has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scrapy import FormRequest, Request, Spider
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.http import Response


class PlainSpider(Spider):
    """Follows links, posts a form, and asks with a callback that no queue on disk can hold."""

    name = "plain"

    def __init__(self, seed: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed

    @override
    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.seed)

    @override
    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        for url in response.css("a::attr(href)").getall():
            yield response.follow(url)
        if response.url == self.seed:
            yield FormRequest(
                response.urljoin("/search"), formdata={"q": "1"}, callback=self.parse_form,
                cb_kwargs={"number": 1}, headers={"X-Test": "yes"},
            )  # fmt: skip
            yield Request(response.urljoin("/lambda"), callback=_unnamed())

    def parse_form(self, response: Response, number: int) -> Iterator[Any]:
        yield {"form": response.url, "number": number, "body": json.loads(response.text)}


def _unnamed() -> Callable[[Response], dict[str, str]]:
    """A callback that is no method of the spider."""
    return lambda response: {"lambda": response.url}

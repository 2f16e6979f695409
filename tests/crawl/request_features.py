"""Spiders that use requests as in any Scrapy project."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy import FormRequest, Request, Spider, signals
from scrapy.exceptions import IgnoreRequest
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure


RETRIES: dict[str, dict[str, Any]] = {
    "/never": {"dont_retry": True},
    "/once": {"max_retry_times": 1},
    "/usual": {},
}
"""Pages that answer 500, and the retry meta of their requests."""


class RequestSpider(Spider):
    """A spider that copies meta, repeats requests, follows redirects, posts and chains pages."""

    name = "requests"
    allowed_domains = ("news.test",)

    def __init__(self, seed: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed

    @override
    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.seed)

    @override
    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        url = response.urljoin
        yield Request(url("/copy"), callback=self.parse_item, meta=response.meta)
        yield Request(url("/hop/1"), callback=self.parse_item, cb_kwargs={"number": 1})
        yield FormRequest(url("/post"), formdata={"q": "1"}, callback=self.parse_item)
        yield Request(url("/depth/1"), callback=self.parse_chain)
        yield Request(url("/again"), callback=self.parse_again)
        yield Request(url("/unnamed"), callback=_unnamed())
        yield Request(
            url("/elsewhere"), callback=self.parse_item, meta={"proxy": "http://127.0.0.1:9"}
        )
        for path, meta in RETRIES.items():
            yield Request(url(path), self.parse_item, errback=self.parse_failure, meta=meta)
        yield Request(url("/offsite"), callback=self.parse_item)
        local = Request("data:,新", errback=self.parse_failure, meta={"allow_offsite": True})
        yield from (local, local.copy())
        yield {"last": response.url}

    def parse_item(self, response: Response, number: int = 0) -> Iterator[Any]:
        yield {"url": response.url, "number": number}

    def parse_failure(self, failure: Failure) -> Iterator[Any]:
        yield {"failed": failure.request.url}  # type: ignore[attr-defined]

    def parse_chain(self, response: Response) -> Iterator[Any]:
        number = int(response.url.rpartition("/")[2])
        yield {"depth": response.meta["depth"], "number": number}
        yield Request(response.urljoin(f"/depth/{number + 1}"), callback=self.parse_chain)

    def parse_again(self, response: Response) -> Iterator[Any]:
        tries = response.meta.get("tries", 1)
        yield {"tries": tries}
        if tries < 3 and response.request is not None:
            meta = {**response.meta, "tries": tries + 1}
            yield response.request.replace(meta=meta, dont_filter=True)


class CircleSpider(RequestSpider):
    """A spider whose pages request each other, with callbacks that cannot be serialized."""

    name = "circle"

    @override
    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        for path in ("/copy", "/done"):
            yield Request(response.urljoin(path), callback=partial(self.parse))
        again = Request(response.urljoin("/again"), partial(self.parse_item), dont_filter=True)
        yield from (again, again)


class HabitsSpider(Spider):
    """A spider with components that replace, refuse and drop what the frontier sent."""

    name = "habits"
    handle_httpstatus_list = (503,)
    custom_settings = {  # noqa: RUF012 - as in Scrapy
        "DOWNLOADER_MIDDLEWARES": {f"{__name__}.LoginMiddleware": 543},
        "SPIDER_MIDDLEWARES": {f"{__name__}.DropMiddleware": 5},
    }

    def __init__(self, seed: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed = seed

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.refuse_request, signals.request_scheduled)
        return spider

    def refuse_request(self, request: Request) -> None:
        """Refuse the target of a redirect."""
        if request.url.endswith("/refused"):
            raise IgnoreRequest

    @override
    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.seed)
        for number in range(3):
            account = {"cookiejar": number}
            yield Request(f"{self.seed}session", self.parse_status, meta=account, dont_filter=True)

    @override
    def parse(self, response: Response) -> Iterator[Any]:
        yield {"page": response.url}
        assert response.request is not None
        for path in ("/", "/copy", "/login-first", "/to-refused", "/blocked"):
            yield response.request.replace(url=response.urljoin(path))
        yield Request(response.urljoin("/flaky"), callback=self.parse_status)

    def parse_status(self, response: Response) -> Iterator[Any]:
        yield {"status": response.status, "account": response.meta.get("cookiejar")}


class LoginMiddleware:
    """Returns another request in place of one, and the same one in place of a blocked page."""

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Request the login page, or the blocked page again."""
        if request.url.endswith("/blocked"):
            return request
        is_closed = request.url.endswith("/login-first")
        return Request(response.urljoin("/login")) if is_closed else response


class DropMiddleware:
    """Drops an item after topiccrawl's middlewares."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """Drop the item of a page."""
        async for output in result:
            if output != {"page": response.urljoin("/copy")}:
                yield output


class NamesakesSpider(Spider):
    """A spider whose attributes have the names of topiccrawl's, but other meanings."""

    name = "namesakes"
    topic = template = strategy = discovery = scorer = "economy"
    watch = since = watcher = progress = "yesterday"
    crawl_name = fresh = 7
    spec = "v1"

    def __init__(self, seed: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [seed]

    def check(self, response: Response) -> bool:
        """Check a page of this spider."""
        return bool(response.text)

    @override
    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        if not response.url.endswith("/copy"):
            yield Request(response.urljoin("/copy"))


def _unnamed() -> Callable[[Response], dict[str, str]]:
    """Return a callback that is not a method of the spider."""
    return lambda response: {"unnamed": response.url}

"""The template spider: searches for seeds, follows layers of links, extracts records [S1]."""

from __future__ import annotations

import time
from collections.abc import Iterator  # noqa: TC003 - tools read the hints of callbacks
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from typing_extensions import override

from topiccrawl.addons.records.arguments import Plan, crawl_of, last_period, plan_of
from topiccrawl.addons.records.periods.controller import PeriodController
from topiccrawl.addons.records.periods.periods import Phase
from topiccrawl.addons.records.periods.seeds import Hit, Hits
from topiccrawl.addons.records.periods.visits import (
    PageResult,
    PageResults,
    Result,
    Visit,
    digest_of,
    name_of,
)
from topiccrawl.addons.records.templates.link_follower import LinkFollower
from topiccrawl.addons.records.templates.template import resolve
from topiccrawl.extract.missing import is_challenge
from topiccrawl.links.page import read_page
from topiccrawl.links.urls import canonical
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import traps_of
from topiccrawl.scheduler.context import CrawlSpec, context_of
from topiccrawl.scheduler.hooks import check_hooks
from topiccrawl.scheduler.starttime import parse_since
from topiccrawl.spiders.arguments import NO_SOURCE_CHECK
from topiccrawl.spiders.discovering import Discovery, SearchPage, request
from topiccrawl.spiders.reading import ChallengeError, header, robots_tags
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.pages import sendable
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.records.periods.visits import PageRequest
    from topiccrawl.discovery.contract import Results
    from topiccrawl.model import Page

_GONE = (404, 410)
_NOT_MODIFIED = 304
_HANDLED_STATUSES = [_NOT_MODIFIED, *_GONE]
"""HTTP statuses other than 200 that the spider handles itself."""
_PRIORITY_PER_LAYER = 10
"""Request priority added per layer, so that a seed is finished before the next one starts [S1]."""

Output = Request | PageResults | Hits


class TemplateSpider(Spider):
    """Crawls for the records that a template describes, period by period.

    Args:
        template: Path of a template file, or the name of a template.
        discover: Seed providers, such as ``searxng:http://localhost:8888``. Default: the
            template's own providers, then the setting TOPICCRAWL_DISCOVER.
        seeds: Comma-separated URLs that are crawled before the template's own seeds.
        chance: "0" crawls every seed. By default seeds are sampled by their probability.
        fresh: "1" starts a new period, even if the last one is not finished.
        since: Yields events (new, changed, gone) as items, beginning with those since: ``last``
            (only those of this run), ``12h``, ``7d`` or a date.
    """

    name = "template"
    custom_settings = NO_SOURCE_CHECK

    def __init__(self, plan: Plan, controller: PeriodController, follower: LinkFollower) -> None:
        super().__init__()
        self.plan = plan
        self.template = plan.template
        name = plan.template.name
        self.spec = CrawlSpec(name=name, owner=name, crawl=plan.crawl_name, conducted=True)
        self.discovery: Discovery | None = plan.discovery
        self.controller = controller
        self.follower = follower

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Return the spider for its arguments.

        Raises:
            ConfigurationError: If an argument or a setting is invalid.
        """
        settings = crawler.settings
        check_hooks(settings)
        plan = plan_of(settings, kwargs)
        storage = storage_of(settings)
        controller = PeriodController(
            plan.template, storage, time.time, plan.rules,
            lambda page: crawler.engine.crawl(spider.request(page)),
        )  # fmt: skip
        spider = cls(plan, controller, LinkFollower(plan.template, traps_of(settings)))
        if since := kwargs.get("since", ""):
            folder = settings["TOPICCRAWL_DATA_DIR"]
            began = parse_since(str(since), folder, plan.template.name, time.time(), ended=True)
            spider.spec = replace(spider.spec, since=began)
        spider.spec = replace(spider.spec, prepare=spider.prepare)
        spider._set_crawler(crawler)
        context = context_of(crawler)
        context.search, context.progress = spider.discovery, controller.progress
        return spider

    @classmethod
    def check_arguments(cls, settings: BaseSettings, /, **arguments: str) -> None:
        """Check arguments and settings.

        Raises:
            ConfigurationError: If one cannot be used.
        """
        plan_of(settings, arguments)

    owner_of = staticmethod(resolve)
    """The template of a name or path; results are stored under its own name."""
    crawl_of = staticmethod(crawl_of)
    """The name of a template's crawl, for commands that control it."""
    last_period = staticmethod(last_period)
    """The latest period of a template, for ``articles changes``."""

    @override
    async def start(self) -> AsyncIterator[Request]:
        await self.controller.resume()
        if self.controller.period.phase is not Phase.SEARCHING:
            self.discovery = context_of(self.crawler).search = None  # the search has finished
            return
        await self.controller.add_hits(
            [Hit(place, url) for place, url in enumerate(self.plan.seeds)]
        )
        if self.discovery is not None:
            self.discovery.found += len(self.plan.seeds)
            for asked, results in self.discovery.start():
                self.discovery.found += len(results.hits)
                await self.controller.add_hits(self._direct_hits(asked, results))
                for wanted in self.discovery.requests(asked, results, self.parse_results):
                    yield wanted

    # -- Search results --------------------------------------------------------------------------

    def parse_results(self, response: Response, asked: list[int]) -> Iterator[Output]:
        """Yield the seeds of a provider's result page and the request for the next one."""
        if self.discovery is not None:
            question = SearchPage(*asked)
            results = self.discovery.read(question, response)
            self.crawler.stats.inc_value("topiccrawl/discovered", len(results.hits))
            yield Hits(self._direct_hits(question, results))
            yield from self._redirects(question, results)
            question = self.discovery.after(question, results)
            yield from self.discovery.requests(question, results, self.parse_results)

    def _direct_hits(self, asked: SearchPage, results: Results) -> tuple[Hit, ...]:
        """Return the seeds that a result page links to directly."""
        return tuple(
            Hit(self._rank(asked, place), hit.url, hit.title)
            for place, hit in enumerate(results.hits)
            if not hit.indirect and self.follower.allows(hit.url)
        )

    def _redirects(self, asked: SearchPage, results: Results) -> Iterator[Request]:
        """Yield requests for the redirect links of a search engine."""
        for place, hit in enumerate(results.hits):
            if hit.indirect:
                about = {"rank": self._rank(asked, place), "title": hit.title}
                yield request(hit.url, asked, self.parse_redirect).replace(cb_kwargs=about)

    def _rank(self, asked: SearchPage, place: int) -> int:
        return len(self.plan.seeds) + asked.rank(place)

    def parse_redirect(self, response: Response, rank: int, title: str) -> Iterator[Hits]:
        """Yield the seed that a redirect link points to."""
        location = header(response, "Location")
        url = canonical(response.urljoin(location)) if location else None
        if url is not None and self.follower.allows(url):
            yield Hits((Hit(rank, url, title),))
        else:
            self.crawler.stats.inc_value("topiccrawl/discovered_unresolved")

    # -- Pages of seeds --------------------------------------------------------------------------

    async def prepare(self, request: Request, response: Response) -> None:
        """Refuse a check of the visitor, so that the page is requested again later.

        Raises:
            ChallengeError: The response is a check of the visitor, and has no values.
        """
        from topiccrawl.addons.records.templates.extract import records_of

        if request.callback != self.parse or not isinstance(response, TextResponse):
            return
        page, html, _ = _page_of(response)
        checks = is_challenge(page.title, page.text)
        if checks and not records_of(html, page.url, self.template):
            raise ChallengeError(request.url)

    @override
    def parse(
        self, response: Response, seed: str, name: str, layer: int, hop: int
    ) -> Iterator[Output]:
        """Parse a page of a seed: follow links, or extract values in the last layer."""
        self.crawler.stats.inc_value("topiccrawl/pages")
        first = PageResult(seed, name, Result.READ, layer, response.url)
        if response.status in _GONE:
            yield PageResults((replace(first, result=Result.MISSING),))
        elif response.status == _NOT_MODIFIED:
            yield PageResults((replace(first, result=Result.UNCHANGED),))
        elif not isinstance(response, TextResponse):
            yield PageResults((first,))
        else:
            page, html, encoding = _page_of(response)
            results, children = self._follow(first, page, html, encoding, hop)
            yield from map(self.request, self.controller.admit(seed, children))
            yield PageResults(tuple(_with_validators(result, response) for result in results))

    def _follow(
        self, result: PageResult, page: Page, html: str, encoding: str, hop: int
    ) -> tuple[list[PageResult], list[Visit]]:
        """Return the page's results and the pages to follow.

        A page may also belong to later layers; it then has a result for each of them.
        """
        if result.layer >= self.follower.last:
            return [self._read(result, page, html)], []
        found = self.follower.follow(result.layer, page, html, encoding)
        children = [Visit(url, result.layer + 1) for url in found.onward]
        results = [result]
        if found.itself:
            url = canonical(page.url) or page.url
            name = name_of(result.seed, result.layer + 1, url)
            inner = replace(result, name=name, layer=result.layer + 1, url=url)
            more, further = self._follow(inner, page, html, encoding, 0)
            results, children = [*more, result], [*children, *further]
        if found.next:
            children.append(Visit(found.next, result.layer, hop + 1))
        return results, children

    def _read(self, result: PageResult, page: Page, html: str) -> PageResult:
        """Extract the values of a page, unless its text is unchanged since the last extraction."""
        from topiccrawl.addons.records.templates.extract import records_of

        digest = digest_of(page)
        known = self.controller.visit(result.seed, result.name)
        if known is not None and (known.digest, known.version) == (digest, self.template.version):
            return replace(result, result=Result.UNCHANGED)
        noindex = page.directives.noindex
        records = () if noindex else records_of(html, page.url, self.template)
        return replace(result, digest=digest, records=records)

    def request(self, wanted: PageRequest) -> Request:
        """Return the Scrapy request for a page request of the controller."""
        layer, hop = wanted.visit.layer, wanted.visit.hop
        return Request(
            wanted.visit.url,
            callback=self.parse,
            headers=wanted.conditions,
            cb_kwargs={"seed": wanted.seed, "name": wanted.name, "layer": layer, "hop": hop},
            meta={meta.ROLE: wanted.role, "handle_httpstatus_list": _HANDLED_STATUSES},
            priority=_PRIORITY_PER_LAYER * layer,
            dont_filter=True,
        )


@lru_cache(maxsize=16)  # ``prepare`` and the callback need the same page
def _page_of(response: Response) -> tuple[Page, str, str]:
    """Return a parsed page, its HTML and its encoding."""
    decoded = decode(response.body, header(response, "Content-Type"))
    page = read_page(decoded.text, response.url, robots_tags(response), decoded.encoding)
    return page, decoded.text, decoded.encoding


def _with_validators(result: PageResult, response: Response) -> PageResult:
    """Return a result with the response's ETag and Last-Modified, for conditional requests."""
    if result.records is None and result.result is not Result.UNCHANGED:
        return result
    etag, modified = (sendable(header(response, n) or "") for n in ("ETag", "Last-Modified"))
    return replace(result, etag=etag, modified=modified)

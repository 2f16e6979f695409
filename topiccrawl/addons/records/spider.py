"""The template spider: search, seeds, layers of links, records [S1]; the flow in one screen."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse
from typing_extensions import override

from topiccrawl.addons.records.arguments import (
    Plan,
    crawl_of,
    last_period,
    manner_of,
    plan_of,
)
from topiccrawl.addons.records.periods.conductor import Conductor, Stores
from topiccrawl.addons.records.periods.periods import Period, Phase
from topiccrawl.addons.records.periods.report import lines_of, progress_of
from topiccrawl.addons.records.periods.seeds import Hit, Hits
from topiccrawl.addons.records.periods.visits import Child, Result, Step, Steps, digest_of, name_of
from topiccrawl.addons.records.templates.following import Following
from topiccrawl.addons.records.templates.template import Template, resolve
from topiccrawl.links.page import read_page
from topiccrawl.links.urls import canonical
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import traps_of
from topiccrawl.scheduler.context import CrawlSpec, context_of
from topiccrawl.scheduler.hooks import check_hooks
from topiccrawl.scheduler.since import since_of
from topiccrawl.spiders.arguments import NO_SOURCE_CHECK
from topiccrawl.spiders.discovering import Discovery, SearchPage, request
from topiccrawl.spiders.reading import header, robots_tags
from topiccrawl.storage.choice import storage_of
from topiccrawl.storage.pages import sendable
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.records.periods.visits import Wanted
    from topiccrawl.discovery.contract import Results
    from topiccrawl.model import Page

_GONE = (404, 410)
_NOT_MODIFIED = 304
_ANSWERS = [_NOT_MODIFIED, *_GONE]
"""Statuses that say something of a page."""
_DEEPER = 10
"""Priority that each layer adds: a seed is finished before the next one begins [S1]."""

Output = Request | Steps | Hits


class TemplateSpider(Spider):
    """Crawls for the records that a template describes, period by period.

    Args:
        template: Path to a template file, or the name of one.
        discover: Where seeds are searched, such as ``searxng:http://localhost:8888``; else the
            template's own providers, else TOPICCRAWL_DISCOVER.
        seeds: URLs to begin with, separated by commas, before the template's own.
        chance: "0" crawls every seed; else each is drawn by its probability.
        fresh: "1" begins a new period, even if the last one was not finished.
        since: Sends events (new, changed, gone) as items, those since then first: ``last``
            (none before this run), ``12h``, ``7d`` or a day.
    """

    name = "template"
    custom_settings = NO_SOURCE_CHECK

    def __init__(self, plan: Plan, conductor: Conductor, following: Following) -> None:
        super().__init__()
        self.plan = plan
        self.template = plan.template
        name = plan.template.name
        self.spec = CrawlSpec(name=name, owner=name, crawl=plan.crawl_name, conducted=True)
        self.discovery: Discovery | None = plan.discovery
        self.conductor = conductor
        self.following = following

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Return the spider for its arguments; raises ConfigurationError before any request."""
        settings = crawler.settings
        check_hooks(settings)
        plan = plan_of(settings, kwargs)
        stores = Stores.of(storage_of(settings))
        conductor = Conductor(
            plan.template, stores, time.time, manner_of(settings, chance=plan.chance)
        )
        spider = cls(plan, conductor, Following(plan.template, traps_of(settings)))
        if since := kwargs.get("since", ""):
            folder = settings["TOPICCRAWL_DATA_DIR"]
            began = since_of(since, folder, plan.template.name, time.time(), ended=True)
            spider.spec = replace(spider.spec, since=began)
        spider._set_crawler(crawler)
        context = context_of(crawler)
        context.search, context.progress = spider.discovery, spider.progress
        return spider

    @classmethod
    def check(cls, settings: BaseSettings, /, **arguments: str) -> None:
        """Check arguments and settings.

        Raises:
            ConfigurationError: If one cannot be used.
        """
        plan_of(settings, arguments)

    @classmethod
    def owner_of(cls, name: str) -> Template:
        """Return the template of a name or path; results are stored under its own name.

        Raises:
            TemplateError: There is none.
        """
        return resolve(name)

    @classmethod
    def crawl_of(cls, settings: BaseSettings, name: str) -> str:
        """Return the name of a template's crawl, by which it is steered.

        Raises:
            ConfigurationError: There is no such template, or its periods cannot be read.
        """
        return crawl_of(settings, name)

    @classmethod
    async def last_period(cls, settings: BaseSettings, name: str) -> Period | None:
        """Return the period of a template that began last, for ``articles changes``."""
        return await last_period(settings, name)

    @override
    async def start(self) -> AsyncIterator[Request]:
        for wanted in self._requests(await self.conductor.resume()):
            yield wanted
        if self.conductor.period.phase is not Phase.SEARCHING:
            self.discovery = context_of(self.crawler).search = None  # it is over
            return
        await self.conductor.found([Hit(place, url) for place, url in enumerate(self.plan.seeds)])
        if self.discovery is not None:
            self.discovery.found += len(self.plan.seeds)
            for asked, results in self.discovery.start():
                self.discovery.found += len(results.hits)
                await self.conductor.found(self._direct(asked, results))
                for wanted in self.discovery.requests(asked, results, self.parse_results):
                    yield wanted

    # -- The search ------------------------------------------------------------------------------

    def parse_results(self, response: Response, asked: list[int]) -> Iterator[Output]:
        """Take seeds from a provider's page, and ask its next one."""
        if self.discovery is not None:
            question = SearchPage(*asked)
            results = self.discovery.read(question, response)
            self.crawler.stats.inc_value("topiccrawl/discovered", len(results.hits))
            yield Hits(self._direct(question, results))
            yield from self._indirect(question, results)
            question = self.discovery.after(question, results)
            yield from self.discovery.requests(question, results, self.parse_results)

    def _direct(self, asked: SearchPage, results: Results) -> tuple[Hit, ...]:
        """Seeds that a page names itself."""
        return tuple(
            Hit(self._rank(asked, place), hit.url, hit.title)
            for place, hit in enumerate(results.hits)
            if not hit.indirect and self.following.wants(hit.url)
        )

    def _indirect(self, asked: SearchPage, results: Results) -> Iterator[Request]:
        """Requests for the redirects by which an engine leads to its results."""
        for place, hit in enumerate(results.hits):
            if hit.indirect:
                about = {"rank": self._rank(asked, place), "title": hit.title}
                yield request(hit.url, asked, self.parse_redirect).replace(cb_kwargs=about)

    def _rank(self, asked: SearchPage, place: int) -> int:
        return len(self.plan.seeds) + asked.rank(place)

    def parse_redirect(self, response: Response, rank: int, title: str) -> Iterator[Hits]:
        """Take the address that a result's redirect names."""
        location = header(response, "Location")
        url = canonical(response.urljoin(location)) if location else None
        if url is not None and self.following.wants(url):
            yield Hits((Hit(rank, url, title),))
        else:
            self.crawler.stats.inc_value("topiccrawl/discovered_unresolved")

    # -- Pages of seeds --------------------------------------------------------------------------

    @override
    def parse(
        self, response: Response, seed: str, name: str, layer: int, hop: int
    ) -> Iterator[Output]:
        """Read a page of a seed: links of its layer, or values where it is of the last one."""
        self.crawler.stats.inc_value("topiccrawl/pages")
        first = Step(seed, name, Result.READ, layer, response.url)
        if response.status in _GONE:
            note = f"http-{response.status}"
            yield Steps((replace(first, result=Result.MISSING, note=note),))
        elif response.status == _NOT_MODIFIED:
            yield Steps((replace(first, result=Result.UNCHANGED),))
        elif not isinstance(response, TextResponse):
            yield Steps((replace(first, note="no text"),))
        else:
            decoded = decode(response.body, header(response, "Content-Type"))
            tags = robots_tags(response)
            page = read_page(decoded.text, response.url, tags, decoded.encoding)
            steps, children = self._walk(first, page, decoded.text, decoded.encoding, hop)
            yield from self._requests(self.conductor.admit(seed, children))
            yield Steps(tuple(_answered(step, response) for step in steps))

    def _walk(
        self, step: Step, page: Page, html: str, encoding: str, hop: int
    ) -> tuple[list[Step], list[Child]]:
        """Return a page's steps in its layer and in later ones that it belongs to; its children."""
        if step.layer >= self.following.last:
            return [self._read(step, page, html)], []
        found = self.following.steps(step.layer, page, html, encoding)
        children = [Child(url, step.layer + 1) for url in found.onward]
        steps = [step]
        if found.itself:
            url = canonical(page.url) or page.url
            name = name_of(step.seed, step.layer + 1, url)
            inner = replace(step, name=name, layer=step.layer + 1, url=url)
            more, further = self._walk(inner, page, html, encoding, 0)
            steps, children = [*more, step], [*children, *further]
        if found.next:
            children.append(Child(found.next, step.layer, hop + 1))
        return steps, children

    def _read(self, step: Step, page: Page, html: str) -> Step:
        """Take a page's values, unless its text is as it was when they were taken last."""
        from topiccrawl.addons.records.templates.extract import records_of

        digest = digest_of(page)
        known = self.conductor.visit(step.seed, step.name)
        if known is not None and (known.digest, known.version) == (digest, self.template.version):
            return replace(step, result=Result.UNCHANGED)
        noindex = page.directives.noindex
        records = () if noindex else records_of(html, page.url, self.template)
        return replace(step, digest=digest, records=records)

    def _requests(self, wanted: Iterable[Wanted]) -> Iterator[Request]:
        for one in wanted:
            yield self.request(one)

    def request(self, wanted: Wanted) -> Request:
        """The request for a page that the conductor wants."""
        conditions = {"If-None-Match": wanted.etag, "If-Modified-Since": wanted.modified}
        return Request(
            wanted.url,
            callback=self.parse,
            headers={name: value for name, value in conditions.items() if value},
            cb_kwargs={
                "seed": wanted.seed, "name": wanted.name, "layer": wanted.layer, "hop": wanted.hop,
            },
            meta={meta.ROLE: wanted.role, "handle_httpstatus_list": _ANSWERS},
            priority=_DEEPER * wanted.layer,
            dont_filter=True,
        )  # fmt: skip

    # -- For people ------------------------------------------------------------------------------

    def progress(self) -> str:
        """The progress line."""
        return progress_of(self.conductor)

    async def summary(self) -> list[str]:
        """Return the lines that sum up the period."""
        return await lines_of(self.conductor)


def _answered(step: Step, response: Response) -> Step:
    """Return a step with the answer's ETag and Last-Modified, for a conditional request."""
    if step.records is None and step.result is not Result.UNCHANGED:
        return step
    etag, modified = (sendable(header(response, n) or "") for n in ("ETag", "Last-Modified"))
    return replace(step, etag=etag, modified=modified)

"""Spider that crawls for a topic and yields articles."""

from __future__ import annotations

import time
from collections.abc import Iterator  # noqa: TC003 - tools read the hints of callbacks
from contextlib import suppress
from dataclasses import replace
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider
from scrapy.http import Response  # noqa: TC002
from typing_extensions import override

from topiccrawl.extract.article import Fetch, compose, page_of
from topiccrawl.extract.missing import is_challenge, is_missing
from topiccrawl.extract.pagination import Pager, joined, pager_of, without_pages
from topiccrawl.links.strategies.link_texts import is_paged
from topiccrawl.links.urls import canonical
from topiccrawl.model import Article, Findings, Lease, Page, PageKind, Unfinished
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import start_rules
from topiccrawl.scheduler.context import CrawlSpec, context_of
from topiccrawl.scheduler.hooks import check_hooks
from topiccrawl.scheduler.leases import UNLEASED
from topiccrawl.scheduler.signals import example_read, page_judged
from topiccrawl.scheduler.starttime import parse_since
from topiccrawl.spiders.arguments import (
    ARGUMENTS,
    NO_SOURCE_CHECK,
    TopicPlan,
    judges_of,
    plan_of,
)
from topiccrawl.spiders.discovering import PRIORITY, Discovery, SearchPage
from topiccrawl.spiders.reading import ChallengeError, PageReading, Rendering, may_be_article
from topiccrawl.topics.marks import example_urls
from topiccrawl.topics.multitopic import MultiScorer
from topiccrawl.topics.pagekind import kind_of
from topiccrawl.topics.topic import Topic, default_seeds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from topiccrawl.discovery.contract import Results
    from topiccrawl.extract.extract import Conditions
    from topiccrawl.extract.frames import LearningFrame
    from topiccrawl.extract.reading import ReadPage
    from topiccrawl.topics.contract import RelevanceModel

_PART = 50
"""Priority of the next page of an article, higher than that of nearly all links."""
_TERMS = 24
"""Number of terms that the dashboard shows, those with the highest weights."""


class TopicSpider(Spider):
    """Spider that crawls for one or more topics.

    Args:
        topic: Path to a topic file, name of a topic, words, or a sentence (see
            ``topiccrawl.topics.topic``).
        topics: Several topics, separated by commas, or a folder of topic files; replaces ``topic``.
            Each page is fetched once, the best topic orders its links, and articles are stored
            with all their topics.
        seeds: Start URLs, separated by commas; by default those of the topic, or portals.
        discover: Provider of start URLs, such as ``searxng:http://localhost:8888``
            (docs/discovery.md); replaces the default seeds. By default TOPICCRAWL_DISCOVER.
        sites: Hosts, separated by commas; only they and their subdomains are crawled. Without
            ``seeds`` the crawl starts at their home pages.
        like: URLs of pages on topic, separated by commas, with or without ``topic``. The crawl
            starts at them unless ``seeds`` are given (see ``Topic.examples``).
        fresh: "1" deletes the frontier of the topic first; stored articles are kept.
        watch: "1" crawls without end, and revisits hubs and recent articles; "once" visits the
            pages that are due, then ends (docs/watching.md).
        include: URL patterns, separated by commas (``links.urlrules``); others are not crawled.
        exclude: URL patterns; matching URLs are not crawled.
        since: Yields change events (new, changed, gone) as items, beginning with those since
            ``last``, ``12h``, ``7d`` or a day.

    Attributes:
        judges_links: True if the links to a page count in its relevance. Not in a crawl for several
            topics, whose links are scored against all of them together, and not with a model of
            TOPICCRAWL_RELEVANCE.
    """

    name = "topic"
    custom_settings = NO_SOURCE_CHECK

    judges: list[RelevanceModel]
    reading: PageReading

    def __init__(self, plan: TopicPlan) -> None:
        super().__init__()
        self.topic, self.strategy, self.scorer = plan.topic, plan.strategy, plan.scorer
        self.discovery = plan.discovery
        self.spec = CrawlSpec(
            name=plan.topic.name,
            owner=plan.topic.name,
            topic=plan.topic,
            strategy=plan.strategy,
            fresh=plan.fresh,
            watch=plan.watch,
            judges=lambda relevance: relevance >= self.scorer.lower_limit,
        )
        self.rendering: Rendering | None = None
        self.frame_of: Callable[[str], LearningFrame | None] = lambda _url: None
        self.judges_links = False

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider from its arguments.

        Raises:
            ConfigurationError: If an argument, the topic or a setting cannot be used.
        """
        settings = crawler.settings
        check_hooks(settings)
        plan = cls.plan(settings, *args, **kwargs)
        for name, bound in plan.topic.limits.settings().items():
            settings.set(name, bound, priority="spider")
        spider, since = cls(plan), None
        if given := kwargs.get("since", ""):
            folder = settings["TOPICCRAWL_DATA_DIR"]
            since = parse_since(str(given), folder, plan.topic.name, time.time(), ended=True)
        spider._set_crawler(crawler)
        spider.judges = judges_of(settings, plan.scorer)
        spider.reading = PageReading(crawler)
        words_alone = settings["TOPICCRAWL_RELEVANCE"] or isinstance(plan.scorer, MultiScorer)
        spider.judges_links = not words_alone and settings.getbool("TOPICCRAWL_LINK_RELEVANCE")
        spider.spec = replace(spider.spec, since=since, prepare=spider.prepare)
        context = context_of(crawler)
        context.search = plan.discovery
        context.status["topic"] = spider.status
        return spider

    def status(self) -> dict[str, Any]:
        """Return the current terms of the topic, and the number of pages being parsed."""
        heaviest = nlargest(_TERMS, self.scorer.vector.items(), key=itemgetter(1))
        terms = {
            "changes": self.crawler.stats.get_value("topiccrawl/adaptation/changes", 0),
            "own": list(self.topic.terms),
            "now": [[term, round(float(weight), 4)] for term, weight in heaviest],
        }
        return {"terms": terms, "circumstances": {"reading": self.reading.open}}

    @classmethod
    def plan(cls, settings: BaseSettings, /, *args: object, **kwargs: object) -> TopicPlan:
        """Validate the arguments of a crawl; a subclass takes its own ones out first.

        Raises:
            ConfigurationError: If an argument, the topic or a setting cannot be used.
        """
        return plan_of(settings, {**dict(zip(ARGUMENTS, args, strict=False)), **kwargs})

    @classmethod
    def check_arguments(cls, settings: BaseSettings, /, **arguments: str) -> Topic:
        """Validate the arguments and return their topic, with its seeds; see ``plan``."""
        return cls.plan(settings, **arguments).topic

    @property
    def judge(self) -> RelevanceModel:
        """Relevance model: custom, learned from marks, or the words of the topic."""
        return self.scorer if isinstance(self.scorer, MultiScorer) else self.judges[0]

    @override
    async def start(self) -> AsyncIterator[Request]:
        seeds = self.topic.seeds
        examples = list(example_urls(self.topic))
        for url, wanted in examples:
            yield Request(url, self.parse_example, cb_kwargs={"wanted": wanted}, dont_filter=True)
        if self.discovery is not None:
            for asked, results in self.discovery.start():
                for request in self._hits(self.discovery, asked, results):
                    yield request
        # a crawl with MAX_IDLE_TIME_BEFORE_CLOSE takes its start URLs from Redis only
        elif not (seeds or examples or self.settings.get("MAX_IDLE_TIME_BEFORE_CLOSE") is not None):
            rules = start_rules(self.topic)
            seeds = tuple(url for url in default_seeds(self.topic) if not rules.refuse(url))
            self.logger.info("No seeds given; starting at %s", ", ".join(seeds))
        for seed in seeds:
            yield Request(seed, callback=self.parse, dont_filter=True)

    async def prepare(self, request: Request, response: Response) -> None:
        """Parse a page in a reader process, and extract its article if the page looks relevant.

        Raises:
            ChallengeError: The response is a check of the visitor; a browser may pass it.
        """
        if request.callback == self.parse_part:
            await self.reading.prepare(
                response, lambda _read: self.reading.conditions(part=True), self.scorer.scorers
            )
        elif request.callback in (None, self.parse, self.parse_example):
            lease = context_of(self.crawler).lease(request) or UNLEASED
            await self.reading.prepare(
                response, lambda read: self._conditions(read, lease), self.scorer.scorers
            )
        else:
            if self.discovery is not None and request.callback == self.parse_discovered:
                await self.discovery.prepare(request, response)
            return
        read = self._read(request, response)
        if read is None or not is_challenge(read.page.title, read.page.text):
            return
        if not (self.rendering and read.blank):
            raise ChallengeError(request.url)

    def _read(self, request: Request, response: Response) -> ReadPage | None:
        """Return the page that a reader has read, or read it; its callback reports any error."""
        if self.reading.is_read(response):
            return self.reading.page(response)
        context = context_of(self.crawler)
        with context.step(context.lease(request)), suppress(Exception):
            return self.reading.page(response)
        return None

    def _conditions(self, read: ReadPage, lease: Lease) -> Conditions | None:
        """Return the conditions of an extraction; None if the page is probably no article."""
        page = self._with_links(read.page, lease)
        wants = self.settings.getbool("TOPICCRAWL_EXTRACT") and may_be_article(page, self.judge)
        return self.reading.conditions(self.frame_of(page.url)) if wants else None

    def _with_links(self, page: Page, lease: Lease) -> Page:
        """Return the page with the score that its links predict, if ``judges_links``."""
        expected = self.strategy.expected(lease.evidence) if self.judges_links else None
        return page._replace(expected=expected)

    def parse_example(self, response: Response, *, wanted: bool) -> Iterator[Any]:
        """Send an example page to the learning extensions; parse it unless a counterexample."""
        if read := self.reading.page(response):
            self.crawler.signals.send_catch_log(example_read, page=read.page, wanted=wanted)
        if wanted:
            yield from self.parse(response)

    def parse_discovered(self, response: Response, asked: list[int]) -> Iterator[Request]:
        """Request the seeds on a page of a seed provider, and its next pages."""
        if self.discovery is not None:
            search = SearchPage(*asked)
            results = self.discovery.read(search, response)
            yield from self._hits(self.discovery, self.discovery.after(search, results), results)

    def _hits(self, discovery: Discovery, asked: SearchPage, results: Results) -> Iterator[Request]:
        """Request the hits of a search, and its next result pages."""
        self.crawler.stats.inc_value("topiccrawl/discovered", len(results.hits))
        rules = start_rules(self.topic)
        for hit in results.hits:
            if not rules.refuse(hit.url):
                yield Request(hit.url, callback=self.parse, priority=PRIORITY)
        yield from discovery.requests(asked, results, self.parse_discovered)

    @override
    def parse(self, response: Response) -> Iterator[Findings | Article | Unfinished | Request]:
        """Score a page and its links, and extract its article if the page is on topic."""
        count = self.crawler.stats.inc_value
        count("topiccrawl/pages")
        read = self.reading.page(response)
        if read is None:
            count("topiccrawl/not_text")
            return
        known = self._lease(response)
        page = self._with_links(read.page, known)
        verdict = self.judge.score_page(page)
        self.scorer.observe(page)
        missing = is_missing(page.title, page.prose)
        if missing:
            count("topiccrawl/soft_404")
        wanted = verdict.relevant and not missing and not page.feed
        article = self._article(response, read, page) if wanted else None
        looked = self.settings.getbool("TOPICCRAWL_EXTRACT") and not page.directives.noindex
        found = article is not None if looked else None
        kind = PageKind.OTHER if missing else kind_of(page, verdict, found, self.scorer.score_many)
        harvest = kind is not PageKind.OTHER
        count("topiccrawl/relevant", int(harvest))
        count("topiccrawl/hubs", int(kind is PageKind.HUB))
        verdict = verdict._replace(kind=kind)
        self.crawler.signals.send_catch_log(page_judged, page=page, verdict=verdict)
        relevance = verdict.for_links.relevance
        self.strategy.learn(known.anchor, known.context, relevance)
        self.strategy.reached(known.evidence, relevance)
        links = page.links if article is None else without_pages(page.url, page.links)
        offers = self.strategy.offers(verdict.for_links, known.evidence, links)
        yield Findings(
            relevance, tuple(offers), self.strategy.worth(relevance), verdict.relevant, page.feed,
            harvest, kind, is_paged(page.url, links),
        )  # fmt: skip
        if article is not None:
            yield from self._with_next_page(article, page, ())
        if self.rendering is not None:
            yield from self._rendered(self.rendering, response, read, article)

    def _lease(self, response: Response) -> Lease:
        return context_of(self.crawler).lease(response.request) or UNLEASED

    def _rendered(
        self, rule: Rendering, response: Response, read: ReadPage, article: Article | None
    ) -> Iterator[Request]:
        """Request a blank page again, rendered in a browser, if the rule of its site allows it.

        A rendered page updates the rule.
        """
        if meta.RENDER in response.meta:
            rule.observe(response.url, article=article is not None)
        elif read.blank and article is None and rule.wants(response.url):
            self.crawler.stats.inc_value("topiccrawl/rendered")
            yield Request(
                response.url, self.parse, meta={meta.RENDER: True}, priority=_PART, dont_filter=True
            )

    def parse_part(
        self, response: Response, story: dict[str, Any], pages: list[str], *, again: bool = False
    ) -> Iterator[Findings | Article | Unfinished | Request]:
        """Append a later page of an article to its earlier pages.

        Args:
            response: The page.
            story: Article of the earlier pages, from ``Article.to_dict``.
            pages: URLs of the earlier pages.
            again: Whether the complete article is stored already; then nothing is yielded before
                its last page.
        """
        article = Article.from_dict(story)
        read = self.reading.page(response)
        if read is None:
            yield from () if again else (article,)
            return
        self.crawler.stats.inc_value("topiccrawl/parts")
        relevance = self.judge.score_page(page := read.page).for_links.relevance
        yield Findings(relevance, (), self.strategy.worth(relevance), relevant=True)
        found = self.reading.extract(response, part=True)
        if found is not None and not is_missing(page.title, page.prose):
            article = joined(article, found.body, found.images)
        for output in self._with_next_page(article, page, pages):
            if again and isinstance(output, Request):
                yield output.replace(cb_kwargs={**output.cb_kwargs, "again": True})
            elif not (again and isinstance(output, Unfinished)):
                yield output

    def part_failed(self, failure: Failure) -> Iterator[Article]:
        """Yield the incomplete article if its next page cannot be fetched."""
        self.crawler.stats.inc_value("topiccrawl/parts_failed")
        arguments = failure.request.cb_kwargs  # type: ignore[attr-defined]
        if not arguments.get("again"):
            yield Article.from_dict(arguments["story"])

    def _with_next_page(
        self, article: Article, page: Page, pages: Sequence[str]
    ) -> Iterator[Article | Unfinished | Request]:
        """Yield the article after its last page; before that, its part and the next request."""
        max_pages = self.settings.getint("TOPICCRAWL_ARTICLE_PAGES")
        parts = pager_of(page.url, page.links) if max_pages > 1 else Pager()
        if parts.first and not pages:  # a later page, reached before the first one
            self.crawler.stats.inc_value("topiccrawl/parts_alone")
            yield Request(parts.first, callback=self.parse, priority=_PART)
            return
        known = [*pages, page.url]
        if not parts.next or parts.next in known or len(known) >= max_pages:
            yield article
            return
        yield Unfinished(article)
        yield Request(
            parts.next,
            callback=self.parse_part,
            errback=self.part_failed,
            cb_kwargs={"story": article.to_dict(), "pages": known},
            priority=_PART,
            dont_filter=True,  # the page may be queued as a link
        )

    def _article(self, response: Response, read: ReadPage, page: Page) -> Article | None:
        """Return the article of a page; None if there is none, or its body is off topic."""
        count = self.crawler.stats.inc_value
        if not self.settings.getbool("TOPICCRAWL_EXTRACT"):
            return None
        if page.directives.noindex:
            count("topiccrawl/noindex")
            return None
        extracted = self.reading.extract(response, self.frame_of(response.url))
        if extracted is None:
            return None
        body_page = page_of(extracted, page)
        verdict = self.judge.score_page(body_page)
        if not verdict.relevant:
            count("topiccrawl/articles_off_topic")
            return None
        matched = self.scorer.topics_on(body_page, verdict)
        wanted = {topic.name: score for topic, score in matched if topic.wants(extracted.published)}
        if not wanted:
            count("topiccrawl/articles_out_of_time")
            return None
        url = canonical(response.url) or response.url
        fetch = Fetch(url, time.time(), self._lease(response).depth, read.encoding)
        return replace(compose(extracted, fetch, page, self.topic.name, verdict), topics=wanted)

"""The topic spider: from a topic to articles, the whole flow in one screen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider
from scrapy.http import TextResponse
from typing_extensions import override

from topiccrawl import meta
from topiccrawl.errors import TopicError
from topiccrawl.links.hosts import HostRules
from topiccrawl.links.page import read_page
from topiccrawl.links.strategies import strategy
from topiccrawl.links.urls import canonical
from topiccrawl.news.article import Fetch, compose
from topiccrawl.news.extract import extract
from topiccrawl.news.missing import is_missing
from topiccrawl.records import Findings
from topiccrawl.relevance import Scorer
from topiccrawl.scheduler.build import check_settings
from topiccrawl.signals import page_judged
from topiccrawl.spiders.arguments import (
    flag,
    refuse_denied,
    refuse_unknown,
    seeds_of,
    strategy_parameters,
)
from topiccrawl.text.decode import decode
from topiccrawl.topic import default_seeds, resolve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.news.article import Article
    from topiccrawl.records import Page
    from topiccrawl.topic import Topic


class TopicSpider(Spider):
    """Crawls for one topic.

    Args:
        topic: Path to a topic file, name of one, words, or a sentence (see ``topiccrawl.topic``).
        seeds: URLs to begin with, separated by commas; else the topic's own, else default portals.
        fresh: "1" forgets the topic's frontier first; stored articles stay.
    """

    name = "topic"

    def __init__(
        self, topic: Topic, strategy: LinkStrategy, scorer: Scorer, *, fresh: bool
    ) -> None:
        super().__init__()
        self.topic = topic
        self.strategy = strategy
        self.scorer = scorer
        self.fresh = fresh

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Return the spider for its arguments; raises ConfigurationError before any request."""
        topic = cls.check(crawler.settings, *args, **kwargs)
        for name, bound in topic.limits.settings().items():
            crawler.settings.set(name, bound, priority="spider")
        scorer = Scorer(topic)
        parameters = strategy_parameters(crawler.settings, topic)
        chosen = strategy(crawler.settings["TOPICCRAWL_STRATEGY"], scorer, parameters)
        chosen.version = topic.version
        spider = cls(topic, chosen, scorer, fresh=flag("fresh", kwargs.get("fresh", "")))
        spider._set_crawler(crawler)
        return spider

    @classmethod
    def check(
        cls,
        settings: BaseSettings,
        /,
        topic: str = "",
        seeds: str = "",
        fresh: str = "",
        **others: str,
    ) -> Topic:
        """Return the topic that the arguments name, seeds filled in.

        Raises:
            ConfigurationError: If an argument, the topic or a setting cannot be used.
        """
        refuse_unknown(others, known=("topic", "seeds", "fresh"))
        flag("fresh", fresh)
        check_settings(settings)
        if not topic.strip():
            raise TopicError("no topic: give -a topic=WORDS, a sentence, or a path to a topic file")
        found = resolve(topic)
        strategy(
            settings["TOPICCRAWL_STRATEGY"], Scorer(found), strategy_parameters(settings, found)
        )
        found = found.model_copy(update={"seeds": seeds_of(seeds)}) if seeds else found
        refuse_denied(found)
        return found

    @override
    async def start(self) -> AsyncIterator[Request]:
        seeds = self.topic.seeds
        if not seeds:
            denied = HostRules((), self.topic.denied_hosts)
            seeds = tuple(url for url in default_seeds(self.topic) if not denied.refuse(url))
            self.logger.info("No seeds given: beginning at %s", ", ".join(seeds))
        for seed in seeds:
            yield Request(seed, callback=self.parse, dont_filter=True)

    @override
    def parse(self, response: Response) -> Iterator[Findings | Article]:
        """Judge a page, score its links, and take the article where it is one on topic."""
        count = self.crawler.stats.inc_value
        count("topiccrawl/pages")
        if not isinstance(response, TextResponse):
            count("topiccrawl/not_text")
            return
        decoded = decode(response.body, _header(response, "Content-Type"))
        tags = [v.decode("latin-1") for v in response.headers.getlist("X-Robots-Tag")]
        page = read_page(decoded.text, response.url, tags, decoded.encoding)
        verdict = self.scorer.score_page(page)
        self.crawler.signals.send_catch_log(page_judged, page=page, verdict=verdict)
        ticket = meta.read(response.request)
        evidence = ticket.evidence if ticket else ()
        offers = tuple(self.strategy.offers(verdict, evidence, page.links))
        worth = self.strategy.worth(verdict.relevance)
        yield Findings(verdict.relevance, offers, worth, verdict.relevant)
        missing = is_missing(page.title, page.prose)
        if missing:
            count("topiccrawl/soft_404")
        if missing or not verdict.relevant:
            return
        count("topiccrawl/relevant")
        if not self.settings.getbool("TOPICCRAWL_EXTRACT"):
            return
        if page.directives.noindex:
            count("topiccrawl/noindex")
        elif article := self._article(response, decoded.text, decoded.encoding, page):
            yield article

    def _article(self, response: Response, html: str, encoding: str, page: Page) -> Article | None:
        """Return the page's article; None where there is none, or only what surrounds it fits."""
        now = time.time()
        extracted = extract(html, response.url, page, fetched_at=now)
        if extracted is None:
            return None
        verdict = self.scorer.score_text(extracted.body, extracted.title)
        if not verdict.relevant:
            self.crawler.stats.inc_value("topiccrawl/articles_off_topic")
            return None
        ticket = meta.read(response.request)
        url = canonical(response.url) or response.url
        fetch = Fetch(url, now, ticket.depth if ticket else 0, encoding)
        return compose(extracted, fetch, page, self.topic.name, verdict)


def _header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None

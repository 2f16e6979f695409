"""``scrapy articles list|show``: what was found."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.stores.choice import store_of
from topiccrawl.terminal import OperatorCommand, add_topic_option, say
from topiccrawl.topic import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from topiccrawl.news.article import Article
    from topiccrawl.stores.contract import Reprint, Story


class Command(OperatorCommand):
    """List stored articles, or show one."""

    @override
    def syntax(self) -> str:
        return "[options] list | show <url>"

    @override
    def short_desc(self) -> str:
        return "List stored articles (newest first), or show one with its reprints"

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        parser.add_argument("--all", action="store_true", help="articles of all topics")
        parser.add_argument("--limit", type=int, default=20, metavar="N", help="at most N (20)")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["list"] | []:
                topic = "" if opts.all else self._topic(opts.topic)
                for article in asyncio.run(self._articles(topic, opts.limit)):
                    say(_json(article) if opts.json else _line(article, topic))
            case ["show", url]:
                story = asyncio.run(self._story(url))
                if story is None:
                    say(f"{url}: no such article in {self.folder}")
                    self.exitcode = 1
                else:
                    say(_whole(story)) if opts.json else say(*_show(story))
            case _:
                raise UsageError

    def _topic(self, argument: str | None) -> str:
        return resolve(argument).name if argument else self.last_crawl(None).topic

    async def _articles(self, topic: str, limit: int) -> list[Article]:
        store = store_of(self.options)
        await store.open()
        try:
            return await store.articles(topic, limit=limit)
        finally:
            await store.close()

    async def _story(self, url: str) -> Story | None:
        store = store_of(self.options)
        await store.open()
        try:
            return await store.get(url)
        finally:
            await store.close()


def _json(article: Article) -> str:
    return json.dumps(article.to_dict(), ensure_ascii=False)


def _whole(story: Story) -> str:
    """The article, and who copied it, as one JSON object."""
    reprints = [reprint._asdict() for reprint in _by_time(story.reprints)]
    return json.dumps({**story.article.to_dict(), "reprints": reprints}, ensure_ascii=False)


def _by_time(reprints: Iterable[Reprint]) -> list[Reprint]:
    """Reprints in the order they were published, those without a date last, as they were seen."""
    return sorted(reprints, key=lambda r: (r.published or "9", r.seen_at))


def _copied(reprint: Reprint) -> str:
    day = reprint.published[:16].replace("T", " ") or "no date"
    why = f"{reprint.similarity:.0%}, {reprint.reason}"
    return f"reprint {day}  {reprint.site}  {reprint.title}  {reprint.url} ({why})"


def _line(article: Article, topic: str) -> str:
    score = article.topics.get(topic, max(article.topics.values(), default=0.0))
    return f"{score:.3f}  {article.published[:10]:<10}  {article.title}  {article.url}"


def _show(story: Story) -> list[str]:
    article = story.article
    about = [article.published, article.source, article.author, article.language, article.encoding]
    return [
        article.title,
        article.url,
        " · ".join(part for part in about if part),
        *(f"topic {name}: {score:.4f}" for name, score in article.topics.items()),
        "because of " + ", ".join(f"{term} {share:.0%}" for term, share in article.terms),
        "",
        article.body,
        "",
        *map(_copied, _by_time(story.reprints)),
    ]

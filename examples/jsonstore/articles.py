"""Store of articles: saving, reprints, versions, selections and lists."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from examples.jsonstore.journal import Journal
from topiccrawl.dedup import linked
from topiccrawl.dedup.factory import index_of
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.model import Article
from topiccrawl.storage.contract import Fate, Listed, Reprint, Saved, Story, StoryChain, Version
from topiccrawl.storage.merge import (
    fate_of,
    is_part,
    replaces,
    reprint_by,
    stored_values,
    version_of,
)
from topiccrawl.storage.selection import ALL, names_of, site_names, words_of
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Sequence

    from topiccrawl.dedup import DuplicateDetector, Match
    from topiccrawl.storage.selection import Selection

ARTICLES, REPRINTS, VERSIONS = "articles", "reprints", "versions"
FORGOTTEN, KEYS, MARKS = "forgotten", "keys", "marks"
"""Tables by URL; FORGOTTEN is by name, and MARKS (of boilerplate) by mark."""


class JsonStore:
    """See ``topiccrawl.storage.contract.ArticleStore``.

    Args:
        folder: Folder of the journal.
        method: Duplicate detector; ``VerifiedShingles`` if None.
        capacity: Number of newest articles with which a new one is compared.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        method: DuplicateDetector | None = None,
        capacity: int = CAPACITY,
    ) -> None:
        self._method = method or VerifiedShingles()
        self._index = index_of(self._method, capacity)
        self._urls = [""]  # by number in the index
        self._keys = f"{KEYS} {self._method.scheme}"
        self._journal = Journal(Path(folder), self._changed)

    async def open(self) -> None:
        """Read the journal; compute missing keys of articles."""

        def work() -> None:
            table, articles = self._journal.table, self._journal.table(ARTICLES)
            for url in [url for url in articles if url not in table(self._keys)]:
                article = self._article(url)
                self._journal.put(self._keys, url, list(self._method.keys(article)))

        await self._journal.write(work)

    async def close(self) -> None:
        """Do nothing, as no file is open between two calls."""

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """Save articles in one transaction."""
        return await self._journal.write(lambda: [self._save(_cleaned(one)) for one in articles])

    async def get(self, url: str) -> Story | None:
        """Return a story by its URL or the URL of a reprint."""

        def work() -> Story | None:
            articles, reprints = self._journal.table(ARTICLES), self._journal.table(REPRINTS)
            story = url if url in articles else reprints.get(url, [""])[0]
            return Story(self._article(story), self._reprints(story)) if story else None

        return await self._journal.read(work)

    async def versions(self, url: str) -> list[Version]:
        """Return the earlier versions of an article."""
        return await self._journal.read(
            lambda: [Version(*one) for one in self._journal.table(VERSIONS).get(url, [])]
        )

    async def select(self, selection: Selection = ALL) -> AsyncGenerator[Article, None]:
        """Yield the articles of a selection, last stored first."""

        def work() -> list[Article]:
            topic = selection.topic
            urls = self._of_topic(topic, selection.stored_since)
            return [self._article(url, topic) for url in urls]

        for article in await self._journal.read(work):
            if _is_in(article, selection):
                yield article

    async def forget(self, names: Sequence[str], now: float) -> int:
        """Remove articles and reprints by names permanently; return their number."""

        def work() -> int:
            removed = 0
            for name in map(clean, names):
                self._journal.put(FORGOTTEN, name, now)
                named = [one for one in self._all() if name in names_of(one)]
                self._drop([one.url for one in named])
                reprints = self._journal.table(REPRINTS).items()
                copies = [u for u, r in reprints if name in {u, *site_names(r[1])}]
                for url in copies:
                    self._journal.put(REPRINTS, url, None)
                removed += len(named) + len(copies)
            return removed

        return await self._journal.write(work)

    async def expire(self, topic: str, before: float) -> int:
        """Remove a topic from its old articles; delete articles without remaining topics."""

        def work() -> int:
            old = [o for o in self._all() if topic in o.topics and o.fetched_at < before]
            for article in old:
                stored = dict(self._journal.table(ARTICLES)[article.url])
                stored["topics"] = {n: t for n, t in stored["topics"].items() if n != topic}
                self._journal.put(ARTICLES, article.url, stored)
            self._drop([one.url for one in old if len(one.topics) == 1])
            return len(old)

        return await self._journal.write(work)

    def _save(self, article: Article) -> Saved:
        if not self._journal.table(FORGOTTEN).keys().isdisjoint(names_of(article)):
            return Saved(article.url, Fate.FORGOTTEN, article.url)
        keys = self._method.keys(article)
        article, match = linked(article, self._match(article, keys))
        if match is not None:
            return self._save_reprint(article, match)
        if article.url in self._journal.table(REPRINTS):
            self._journal.put(REPRINTS, article.url, None)
        stored = self._journal.table(ARTICLES).get(article.url)
        known = None if stored is None else self._article(article.url)
        if known is None:
            for mark in self._method.learn(article):
                self._journal.put(MARKS, str(mark), 1)
        elif replaces(known, article):
            versions = self._journal.table(VERSIONS).get(article.url, [])
            old = version_of(known, article.fetched_at)
            self._journal.put(VERSIONS, article.url, [*versions, old])
        self._put(article, {**(stored["topics"] if stored else {}), **_topics(article)})
        if known is None or known.digest != article.digest:
            self._journal.put(self._keys, article.url, list(keys))
        fate = Fate.NEW if known is None else fate_of(known, article)
        return Saved(article.url, fate, article.url, follows=article.follows)

    def _save_reprint(self, article: Article, match: Match) -> Saved:
        self._drop_part(article, match.url)
        self._journal.put(REPRINTS, article.url, [match.url, *reprint_by(article, match)[1:]])
        topics = self._journal.table(ARTICLES)[match.url]["topics"]
        if _topics(article).keys() - topics.keys():
            self._put(self._article(match.url), {**_topics(article), **topics})
        return Saved(article.url, Fate.REPRINT, match.url, match.similarity, match.reason)

    def _drop_part(self, article: Article, story: str) -> None:
        """Delete the part of an article that was stored as a story; move its reprints."""
        url = article.url
        if url in self._journal.table(ARTICLES) and is_part(self._article(url), article):
            for copy, reprint in list(self._journal.table(REPRINTS).items()):
                if reprint[0] == url:
                    self._journal.put(REPRINTS, copy, [story, *reprint[1:]])
            self._drop([url])

    def _match(self, article: Article, keys: Sequence[int]) -> Match | None:
        """Return the stored story that an article reprints, or None."""
        articles = self._journal.table(ARTICLES)
        urls = dict.fromkeys(self._urls[number] for number in self._index.find(keys))
        near = [self._article(u) for u in urls if u in articles and u != article.url]
        return self._method.judge(article, near)

    def _put(self, article: Article, topics: dict[str, Any]) -> None:
        values = {**article.to_dict(), "topics": topics, "stored_at": time.time()}
        self._journal.put(ARTICLES, article.url, values)

    def _drop(self, urls: Iterable[str]) -> None:
        """Delete articles with their reprints, versions and keys."""
        gone = set(urls)
        reprints = [u for u, r in self._journal.table(REPRINTS).items() if r[0] in gone]
        for table, some in ((ARTICLES, gone), (VERSIONS, gone), (self._keys, gone),
                            (REPRINTS, reprints)):  # fmt: skip
            for url in self._journal.table(table).keys() & some:
                self._journal.put(table, url, None)

    def _changed(self, table: str, key: str) -> None:
        """Index a change by this or another process."""
        if table == MARKS:
            self._method.know([int(key)])
        elif table == self._keys and key in self._journal.table(table):
            self._index.add(len(self._urls), self._journal.table(table)[key])
            self._urls.append(key)

    def _article(self, url: str, topic: str = "") -> Article:
        """Return a stored article with the terms of a topic; by default, of its best topic."""
        stored = dict(self._journal.table(ARTICLES)[url])
        stored.pop("stored_at", None)
        topics = sorted(stored["topics"].items(), key=lambda one: (-one[1][0], one[0]))
        terms = stored["topics"].get(topic) or (topics[0][1] if topics else (0.0, []))
        scores = {name: score for name, (score, _) in topics}
        return Article.from_dict({**stored, "topics": scores, "terms": terms[1]})

    def _of_topic(self, topic: str, stored_since: float = 0.0) -> list[str]:
        articles = self._journal.table(ARTICLES)
        return [
            url
            for url, one in reversed(articles.items())
            if (not topic or topic in one["topics"])
            and one.get("stored_at", one["fetched_at"]) >= stored_since
        ]

    def _all(self) -> list[Article]:
        return [self._article(url) for url in self._journal.table(ARTICLES)]

    def _reprints(self, story: str) -> tuple[Reprint, ...]:
        found = self._journal.table(REPRINTS).items()
        return tuple(Reprint(url, *one[1:]) for url, one in found if one[0] == story)


class JsonListing(JsonStore):
    """See ``topiccrawl.storage.contract.Listing``."""

    async def page(self, topic: str, limit: int, offset: int) -> tuple[int, list[Listed]]:
        """Return the number of articles, and one page of them."""

        def work() -> tuple[int, list[Listed]]:
            urls = self._of_topic(topic)
            return len(urls), [self._listed(url, topic) for url in urls[offset:][:limit]]

        return await self._journal.read(work)

    async def chains(self, topic: str, most: int) -> list[StoryChain]:
        """Return the stories with the most reprints."""

        def work() -> list[StoryChain]:
            found = [
                StoryChain(self._listed(url, topic), self._reprints(url))
                for url in self._of_topic(topic)
            ]
            found.sort(key=lambda chain: -len(chain.reprints))
            return [chain for chain in found[:most] if chain.reprints]

        return await self._journal.read(work)

    def _listed(self, url: str, topic: str) -> Listed:
        one = self._article(url, topic)
        return Listed(
            url, one.title, one.site, one.published, one.fetched_at, one.topics.get(topic, 0.0),
            one.terms, len(self._reprints(url)),
        )  # fmt: skip


def _cleaned(article: Article) -> Article:
    """Return an article with text that UTF-8 can encode."""
    return replace(article, **stored_values(article))


def _topics(article: Article) -> dict[str, Any]:
    return {
        clean(name): (score, [list(term) for term in article.terms])
        for name, score in article.topics.items()
    }


def _is_in(article: Article, selection: Selection) -> bool:
    """Return whether an article meets the conditions of a selection, except the topic."""
    if selection.site and f"site:{selection.site}" not in site_names(article.site):
        return False
    if selection.dated:
        first, end = selection.since or "0", selection.before or "~"
        if not first <= article.published < end:
            return False
    if not selection.has_parts(article.title, article.body):
        return False
    words = set(selection.indexed)
    return not words or words.issubset(words_of(article.title, article.body))

"""Item pipeline that assigns articles to events before they are stored.

An article is assigned to the most similar event within a window of days, or starts a new one.
Similarity is the cosine of TF-IDF vectors. Names, places and numbers (``features``) have a higher
weight than other words, since articles about the same event share them. Word frequencies are those
of the language and of the articles so far, so that "football" has no weight in a crawl on football.

Candidates come from an inverted index over the most important words of each event, so that the time
per article does not grow with the number of articles.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter, OrderedDict, defaultdict
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from topiccrawl.model import Article
from topiccrawl.storage.factory import opened, storage_of
from topiccrawl.storage.selection import ALL
from topiccrawl.storage.tables import ExportFilter, export_articles
from topiccrawl.text.idf import DEFAULT_IDF, corpus_idf
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    Vector = dict[str, float]

MAX_CHARS = 2_500
"""Number of characters at the start of a text that are used."""

HEAD_CHARS = 250
"""Number of first characters that are counted twice, like the headline."""

MAX_WORDS = 80
"""Maximum number of words in the vector of an article or event, by descending weight."""

MAX_KEYS = 16
"""Number of words by which an event is indexed, by descending weight."""

MIN_SIMILARITY = 0.2
"""Minimum similarity of an article to its event, in [0, 1]."""

WINDOW_WEIGHT = 0.5
"""Factor of the similarity at the end of the window; it falls linearly from 1."""

NAME_WEIGHT = 1.5
"""Weight factor of names and numbers."""

MAX_EVENTS = 20_000
"""Maximum number of events in memory; the least recently extended ones are evicted."""

MAX_AVERAGED = 30
"""Number of articles after which the weight of a new article in its event is constant."""

MAX_EVENTS_PER_KEY = 500
"""Maximum number of events per word of the index; more frequent words are not used."""

_NAME = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][A-Za-z]+")
_NUMBER = re.compile(r"\d{2,}")


class Events:
    """Groups a stream of articles by event.

    Args:
        window: Maximum number of days between an article and its event.

    >>> from topiccrawl.model import Article
    >>> events = Events(7)
    >>> for name, title in (
    ...     ("a", "台风玉兔在惠来登陆，三万人转移"),
    ...     ("b", "沪指收涨，券商股领跑"),
    ...     ("c", "惠来：台风玉兔登陆后，已转移三万人"),
    ... ):
    ...     events.add(Article(f"http://{name}.test/", title, "", published="2026-09-01"))
    'http://a.test/'
    'http://b.test/'
    'http://a.test/'
    """

    def __init__(self, window: float) -> None:
        self._window = window
        self._events: OrderedDict[str, _Event] = OrderedDict()
        self._by_key: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._frequency: Counter[str] = Counter()
        self._articles = 0

    def add(self, article: Article) -> str:
        """Add an article and return its event, which is the URL of the event's first article.

        The event of an article that has one is not changed.
        """
        counts = features(article)
        vector = self._vector(counts)
        self._frequency.update(counts.keys())
        self._articles += 1
        day = _day(article)
        name = article.event or self._nearest(vector, day) or article.url
        self._index(name, vector, day)
        return name

    def _nearest(self, vector: Vector, day: int) -> str:
        """Return the event most similar to a vector; "" if there is none."""
        keys = list(vector)[: 2 * MAX_KEYS]
        names = dict.fromkeys(
            name for key in keys if len(found := self._by_key.get(key, ())) <= MAX_EVENTS_PER_KEY
            for name in found
        )  # fmt: skip
        best, chosen = MIN_SIMILARITY, ""
        for name in names:
            event = self._events[name]
            gap = event.days_apart(day)
            if gap > self._window:
                continue
            decay = 1.0 - (1.0 - WINDOW_WEIGHT) * gap / self._window
            similarity = decay * _cosine(vector, event.vector)
            if similarity >= best:
                best, chosen = similarity, name
        return chosen

    def _index(self, name: str, vector: Vector, day: int) -> None:
        event = self._events.setdefault(name, _Event())
        for key in event.keys:
            self._by_key[key].pop(name, None)
        event.add(vector, day)
        for key in event.keys:
            self._by_key[key][name] = None
        self._events.move_to_end(name)
        if len(self._events) > MAX_EVENTS:
            gone, old = self._events.popitem(last=False)
            for key in old.keys:
                self._by_key[key].pop(gone, None)
                if not self._by_key[key]:
                    del self._by_key[key]

    def _vector(self, counts: Mapping[str, float]) -> Vector:
        """Return the TF-IDF vector of an article, with length 1."""
        idf, total = corpus_idf(), math.log(self._articles + 2)
        weights = {}
        for word, count in counts.items():
            here = math.log((self._articles + 2) / (self._frequency[word] + 1)) / total
            rare = DEFAULT_IDF if word[0] == "#" else idf(word)
            named = NAME_WEIGHT if rare == DEFAULT_IDF else 1.0
            weights[word] = (1.0 + math.log(count)) * rare * max(here, 0.0) * named
        return _heaviest(weights)


class _Event:
    """Mean vector and days of an event."""

    __slots__ = ("first", "keys", "last", "size", "vector")

    def __init__(self) -> None:
        self.vector: Vector = {}
        self.keys: tuple[str, ...] = ()
        self.size = 0
        self.first = self.last = 0

    def add(self, vector: Vector, day: int) -> None:
        """Add an article."""
        share = 1.0 / (min(self.size, MAX_AVERAGED) + 1)
        mixed = {word: weight * (1.0 - share) for word, weight in self.vector.items()}
        for word, weight in vector.items():
            mixed[word] = mixed.get(word, 0.0) + weight * share
        self.vector = _heaviest(mixed)
        self.keys = tuple(self.vector)[:MAX_KEYS]
        self.size += 1
        if day:
            self.first = min(self.first or day, day)
            self.last = max(self.last, day)

    def days_apart(self, day: int) -> int:
        """Return the number of days between a day and the event; 0 if either is unknown."""
        if not day or not self.last:
            return 0
        return max(0, self.first - day, day - self.last)


def features(article: Article) -> Counter[str]:
    """Return the counts of words in headline and text; names and numbers also with prefix ``#``.

    >>> from topiccrawl.model import Article
    >>> sorted(features(Article("http://a.test/", "Quake of 6.1 hits near Aceh", "")))
    ['#aceh', '1', '6', 'aceh', 'hit', 'quake']
    """
    text = article.body[:MAX_CHARS]
    words = shared_tokenizer().words
    head = f"{article.title}\n{text[:HEAD_CHARS]}"
    counts = Counter(words(f"{head}\n{text}"))
    counts.update(words(head))
    marked = [found[0].lower() for found in _NAME.finditer(f"{article.title}. {text}")]
    counts.update(f"#{word}" for word in (*marked, *_NUMBER.findall(f"{article.title}\n{text}")))
    return counts


def _heaviest(weights: Mapping[str, float]) -> Vector:
    """Return the largest weights by descending weight, scaled to length 1."""
    kept = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_WORDS]
    length = math.sqrt(sum(weight * weight for _, weight in kept)) or 1.0
    return {word: weight / length for word, weight in kept if weight > 0.0}


def _cosine(one: Vector, other: Vector) -> float:
    short, long = (one, other) if len(one) < len(other) else (other, one)
    return sum(weight * long[word] for word, weight in short.items() if word in long)


def _day(article: Article) -> int:
    """Return the ordinal of the publication date, or of the fetch; 0 if unknown."""
    try:
        return date.fromisoformat(article.published[:10]).toordinal()
    except ValueError:
        at = article.fetched_at
        return date.fromtimestamp(at).toordinal() if at else 0  # noqa: DTZ012 - days only


async def newest_articles(settings: BaseSettings, limit: int) -> list[Article]:
    """Return the last stored articles, the newest first; [] if nothing has been stored.

    Raises:
        StorageError: If they cannot be read.
    """
    storage = storage_of(settings)
    if not storage.exists():
        return []
    async with opened(storage.articles()) as store:
        return [one async for one in export_articles(store, ALL, ExportFilter(limit=limit))]


MAX_RELOADED = 2_000
"""Number of newest stored articles that are loaded at the start."""


class EventPipeline:
    """Sets ``Article.event``; other items are returned unchanged.

    Args:
        settings: Settings with the storage and TOPICCRAWL_EVENTS, the window.
        count: Increments the stat with this name.
    """

    def __init__(self, settings: BaseSettings, count: Callable[[str], None]) -> None:
        self._settings = settings
        self._count = count
        self._events = Events(settings.getfloat("TOPICCRAWL_EVENTS"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the pipeline.

        Raises:
            NotConfigured: If TOPICCRAWL_EVENTS is 0.
        """
        if crawler.settings.getfloat("TOPICCRAWL_EVENTS") <= 0:
            raise NotConfigured
        stats = crawler.stats
        return cls(crawler.settings, lambda name: stats.inc_value(f"topiccrawl/{name}"))

    async def open_spider(self) -> None:
        """Load the events of the newest stored articles."""
        known = await newest_articles(self._settings, MAX_RELOADED)
        await asyncio.to_thread(self._reload, [one for one in reversed(known) if one.event])

    async def process_item(self, item: object) -> object:
        """Return the item; an article gets its event."""
        if not isinstance(item, Article):
            return item
        event = self._events.add(item)
        self._count("events" if event == item.url else "events_joined")
        return replace(item, event=event)

    def _reload(self, articles: list[Article]) -> None:
        for article in articles:
            self._events.add(article)

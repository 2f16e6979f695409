"""Grouping of articles by event, one after the other as they arrive.

An article joins the event whose articles share most of its words, weighted by TF-IDF, within a
window of days; else it begins one. Rare words weigh most, and names, places, numbers and days
(``features``) more than other words, since two write-ups of one event share them whatever else they
say. The frequency of words is that of the language and that of the articles so far: in a crawl on
football, "football" says nothing.

An inverted index over the heaviest words of each event gives the candidates, so that the time for
an article does not grow with the articles.
"""

from __future__ import annotations

import math
import re
from collections import Counter, OrderedDict, defaultdict
from datetime import date
from typing import TYPE_CHECKING

from topiccrawl.text.idf import DEFAULT_IDF, corpus_idf
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.model import Article

    Vector = dict[str, float]

READ = 2_500
"""Characters of the text that are read: what happened is at the top."""

HEAD = 250
"""Characters at the top that count twice, as the headline does."""

WORDS = 80
"""Heaviest words of an article or event that are compared."""

KEYS = 16
"""Heaviest words of an event by which it is found."""

ALIKE = 0.2
"""Cosine from which an article belongs to an event."""

FADING = 0.5
"""Share of the similarity that is left at the end of the window."""

NAMED = 1.5
"""Weight of a name or number beside another word of the same rarity."""

MOST = 20_000
"""Events in memory, those with the newest articles."""

MEMBERS = 30
"""Articles of an event from which on its words hardly change."""

COMMON = 500
"""Events under one word; a word of more of them finds none."""

_NAME = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][A-Za-z]+")
_NUMBER = re.compile(r"\d{2,}")


class Events:
    """Events of a stream of articles.

    Args:
        window: Days between an article and the event's nearest article.
        alike: See ``ALIKE``.

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

    def __init__(self, window: float, alike: float = ALIKE) -> None:
        self._window = window
        self._alike = alike
        self._events: OrderedDict[str, _Event] = OrderedDict()
        self._found_by: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._frequency: Counter[str] = Counter()
        self._articles = 0

    def add(self, article: Article) -> str:
        """Add an article and return its event: the URL of the first article about it.

        An article that was stored with an event stays in it.
        """
        counts = features(article)
        vector = self._weighed(counts)
        self._frequency.update(counts.keys())
        self._articles += 1
        day = _day(article)
        name = article.event or self._nearest(vector, day) or article.url
        event = self._events.get(name)
        if event is None:
            event = self._events[name] = _Event()
        self._index(name, event, vector, day)
        return name

    def _nearest(self, vector: Vector, day: int) -> str:
        """Return the event most like the vector; "" for none."""
        keys = sorted(vector, key=vector.__getitem__, reverse=True)[: 2 * KEYS]
        names = dict.fromkeys(
            name for key in keys if len(found := self._found_by.get(key, ())) <= COMMON
            for name in found
        )  # fmt: skip
        best, chosen = self._alike, ""
        for name in names:
            event = self._events[name]
            gap = event.gap(day)
            if gap > self._window:
                continue
            fading = 1.0 - (1.0 - FADING) * gap / self._window
            likeness = fading * _cosine(vector, event.vector)
            if likeness >= best:
                best, chosen = likeness, name
        return chosen

    def _index(self, name: str, event: _Event, vector: Vector, day: int) -> None:
        for key in event.keys:
            self._found_by[key].pop(name, None)
        event.take(vector, day)
        for key in event.keys:
            self._found_by[key][name] = None
        self._events.move_to_end(name)
        if len(self._events) > MOST:
            gone, old = self._events.popitem(last=False)
            for key in old.keys:
                self._found_by[key].pop(gone, None)
                if not self._found_by[key]:
                    del self._found_by[key]

    def _weighed(self, counts: Mapping[str, float]) -> Vector:
        """Return the heaviest words of an article, as a vector of length 1."""
        idf, total = corpus_idf(), math.log(self._articles + 2)
        weights = {}
        for word, count in counts.items():
            here = math.log((self._articles + 2) / (self._frequency[word] + 1)) / total
            rare = idf(word.removeprefix("#")) if word[0] != "#" else DEFAULT_IDF
            named = NAMED if word[0] == "#" or rare == DEFAULT_IDF else 1.0
            weights[word] = (1.0 + math.log(count)) * rare * max(here, 0.0) * named
        return _heaviest(weights)


class _Event:
    """Words and days of an event."""

    __slots__ = ("first", "keys", "last", "size", "vector")

    def __init__(self) -> None:
        self.vector: Vector = {}
        self.keys: tuple[str, ...] = ()
        self.size = 0
        self.first = self.last = 0

    def take(self, vector: Vector, day: int) -> None:
        """Take an article over into the words and days."""
        share = 1.0 / (min(self.size, MEMBERS) + 1)
        mixed = {word: weight * (1.0 - share) for word, weight in self.vector.items()}
        for word, weight in vector.items():
            mixed[word] = mixed.get(word, 0.0) + weight * share
        self.vector = _heaviest(mixed)
        self.keys = tuple(sorted(self.vector, key=self.vector.__getitem__, reverse=True)[:KEYS])
        self.size += 1
        if day:
            self.first = min(self.first or day, day)
            self.last = max(self.last, day)

    def gap(self, day: int) -> int:
        """Return the days between a day and the event; 0 where one has none."""
        if not day or not self.last:
            return 0
        return max(0, self.first - day, day - self.last)


def features(article: Article) -> Counter[str]:
    """Return the words of headline and text with their counts; names and numbers marked ``#``.

    >>> from topiccrawl.model import Article
    >>> sorted(features(Article("http://a.test/", "Quake of 6.1 hits near Aceh", "")))
    ['#aceh', '1', '6', 'aceh', 'hit', 'quake']
    """
    text = article.body[:READ]
    words = shared_tokenizer().words
    head = f"{article.title}\n{text[:HEAD]}"
    counts = Counter(words(f"{head}\n{text}"))
    counts.update(words(head))
    marked = [found[0].lower() for found in _NAME.finditer(f"{article.title}. {text}")]
    counts.update(f"#{word}" for word in (*marked, *_NUMBER.findall(f"{article.title}\n{text}")))
    return counts


def _heaviest(weights: Mapping[str, float]) -> Vector:
    kept = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:WORDS]
    length = math.sqrt(sum(weight * weight for _, weight in kept)) or 1.0
    return {word: weight / length for word, weight in kept if weight > 0.0}


def _cosine(one: Vector, other: Vector) -> float:
    short, long = (one, other) if len(one) < len(other) else (other, one)
    return sum(weight * long[word] for word, weight in short.items() if word in long)


def _day(article: Article) -> int:
    """Return the day of publication, else of the fetch, as a number; 0 for none."""
    try:
        return date.fromisoformat(article.published[:10]).toordinal()
    except ValueError:
        at = article.fetched_at
        return date.fromtimestamp(at).toordinal() if at else 0  # noqa: DTZ012 - days only

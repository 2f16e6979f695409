"""Decision about each article of a save, from documents that were read before. No network here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from topiccrawl.addons.mongodb.stories import Claim, name_of
from topiccrawl.dedup.contract import linked
from topiccrawl.dedup.factory import index_of
from topiccrawl.storage.contract import Fate, Saved
from topiccrawl.storage.merge import fate_of, merge_topics, replaces
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from topiccrawl.dedup import DuplicateDetector, Match
    from topiccrawl.model import Article


@dataclass(slots=True)
class Known:
    """Stored data that the articles of a save depend on, and the articles already decided.

    Attributes:
        articles: URL to number and article.
        texts: Articles to compare with, by number.
        reprints: URLs of the save that are recorded as reprints.
        forgotten: URLs of the save that must not be stored again.
    """

    articles: dict[str, tuple[int, Article]]
    texts: dict[int, Article]
    reprints: Collection[str]
    forgotten: Collection[str]


@dataclass(slots=True)
class Plan:
    """Writes of a save, in the order of the decisions.

    Attributes:
        saved: Fates, in the order of the articles.
        upserts: Articles to write, with their numbers.
        replaced: Texts that become versions, with the time of the text that replaces them.
        reprints: Reprints to record, with their stories.
        freed: URLs that are no longer reprints.
        claim: Entry for the story log, without marks.
    """

    saved: list[Saved] = field(default_factory=list)
    upserts: list[tuple[Article, int]] = field(default_factory=list)
    replaced: list[tuple[Article, float]] = field(default_factory=list)
    reprints: list[tuple[Article, Match]] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)
    claim: Claim = field(default_factory=Claim)


class Decision:
    """Decision about the articles of one save; each is also compared with the ones before it.

    Args:
        method: Duplicate detector.
        known: Stored data.
        first: First free number.
    """

    def __init__(self, method: DuplicateDetector, known: Known, first: int) -> None:
        self.plan = Plan()
        self._method = method
        self._known = known
        self._next = first
        self._local = index_of(method)

    def take(self, article: Article, keys: Sequence[int], candidates: Sequence[int]) -> None:
        """Decide about the next article.

        Args:
            article: The article.
            keys: Keys of the article.
            candidates: Numbers of stored articles that share keys with the article.
        """
        url, texts = clean(article.url), self._known.texts
        if url in self._known.forgotten:
            self.plan.saved.append(Saved(article.url, Fate.FORGOTTEN, article.url))
            return
        numbers = dict.fromkeys((*self._local.find(keys), *candidates))
        near = (texts[number] for number in numbers if number in texts)
        found = self._method.judge(article, (other for other in near if other.url != url))
        article, match = linked(article, found)
        if match is None:
            self._store(url, article, keys)
        else:
            self.plan.reprints.append((article, match))
            self.plan.saved.append(Saved(article.url, Fate.REPRINT, *match[:3]))

    def _store(self, url: str, article: Article, keys: Sequence[int]) -> None:
        if url in self._known.reprints:
            self.plan.freed.append(url)
        number, before = self._known.articles.get(url, (self._next, None))
        fate = Fate.NEW if before is None else fate_of(before, article)
        self._next += before is None
        if before is not None and replaces(before, article):
            self.plan.replaced.append((before, article.fetched_at))
        self._known.articles[url] = (number, merge_topics(before, article))
        if before is None or before.digest != article.digest:
            self._known.texts[number] = article
            self._local.add(number, keys)
            self.plan.claim.numbers.append(number)
            self.plan.claim.urls.append(name_of(article.url))
            self.plan.claim.keys.append(keys)
        self.plan.upserts.append((article, number))
        self.plan.saved.append(Saved(article.url, fate, article.url, follows=article.follows))

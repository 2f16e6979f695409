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

    from topiccrawl.dedup import DuplicateDetector, KeyIndex, Match
    from topiccrawl.model import Article


@dataclass(slots=True)
class Decision:
    """Decision about the articles of one save; each is also compared with the ones before it.

    Attributes:
        method: Duplicate detector.
        next: First free number.
        stored: Number and article of each stored URL of the save.
        texts: Articles to compare with, by number.
        recorded: URLs of the save that are recorded as reprints.
        forgotten: URLs of the save that must not be stored again.
        saved: Fates, in the order of the articles.
        upserts: Articles to write, with their numbers.
        replaced: Texts that become versions, with the time of the text that replaces them.
        reprints: Reprints to record, with their stories.
        freed: URLs that are no longer reprints.
        claim: Entry for the story log, without marks.
    """

    method: DuplicateDetector
    next: int
    stored: dict[str, tuple[int, Article]]
    texts: dict[int, Article]
    recorded: Collection[str]
    forgotten: Collection[str]
    saved: list[Saved] = field(default_factory=list)
    upserts: list[tuple[Article, int]] = field(default_factory=list)
    replaced: list[tuple[Article, float]] = field(default_factory=list)
    reprints: list[tuple[Article, Match]] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)
    claim: Claim = field(default_factory=Claim)
    _index: KeyIndex = field(init=False)

    def __post_init__(self) -> None:
        self._index = index_of(self.method)

    def take(self, article: Article, keys: Sequence[int], candidates: Sequence[int]) -> None:
        """Decide about the next article.

        Args:
            article: The article.
            keys: Keys of the article.
            candidates: Numbers of stored articles that share keys with the article.
        """
        url = clean(article.url)
        if url in self.forgotten:
            self.saved.append(Saved(article.url, Fate.FORGOTTEN, article.url))
            return
        numbers = dict.fromkeys((*self._index.find(keys), *candidates))
        near = (self.texts[number] for number in numbers if number in self.texts)
        found = self.method.judge(article, (other for other in near if other.url != url))
        article, match = linked(article, found)
        if match is None:
            self._store(url, article, keys)
        else:
            self.reprints.append((article, match))
            self.saved.append(Saved(article.url, Fate.REPRINT, *match[:3]))

    def _store(self, url: str, article: Article, keys: Sequence[int]) -> None:
        if url in self.recorded:
            self.freed.append(url)
        number, before = self.stored.get(url, (self.next, None))
        fate = Fate.NEW if before is None else fate_of(before, article)
        self.next += before is None
        if before is not None and replaces(before, article):
            self.replaced.append((before, article.fetched_at))
        self.stored[url] = (number, merge_topics(before, article))
        if before is None or before.digest != article.digest:
            self.texts[number] = article
            self._index.add(number, keys)
            self.claim.numbers.append(number)
            self.claim.urls.append(name_of(article.url))
            self.claim.keys.append(keys)
        self.upserts.append((article, number))
        self.saved.append(Saved(article.url, fate, article.url, follows=article.follows))

"""A duplicate detector of your own: which articles are one story.

    scrapy crawl topic -a topic=新能源汽车 \
        -s TOPICCRAWL_DUPLICATES=examples.duplicate_detector.SameHeadline

The store looks up the articles that share a key with a new one, and asks for a decision about
these, inside the transaction that saves it (docs/duplicates.md).
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from topiccrawl.dedup import Match
from topiccrawl.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.model import Article


class SameHeadline:
    """Two articles of one day with one headline are one story, whatever its case and blanks."""

    scheme = "same-headline/1"

    def keys(self, article: Article) -> Sequence[int]:
        """Return one key in [0, 2**32); none for an article without a headline."""
        said = headline(article)
        return (zlib.crc32(said.encode("utf-8", "replace")),) if said else ()

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the first stored article of the same day and headline."""
        for other in known:
            same_day = article.published[:10] == other.published[:10]
            if same_day and headline(article) and headline(article) == headline(other):
                return Match(other.url, 1.0, "same-headline")
        return None

    def learn(self, article: Article) -> Sequence[int]:  # noqa: ARG002 - the contract's
        """Return (): nothing is learnt."""
        return ()

    def know(self, marks: Iterable[int]) -> None:
        """Do nothing: nothing is learnt."""


def headline(article: Article) -> str:
    """Return an article's headline, folded and without blanks."""
    return "".join(fold(article.title).split())

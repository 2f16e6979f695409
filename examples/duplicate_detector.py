"""Custom duplicate detector, which decides which articles are the same story.

    scrapy crawl topic -a topic=新能源汽车 \
        -s TOPICCRAWL_DUPLICATES=examples.duplicate_detector.SameHeadline

For each new article, the store looks up the stored articles that share a key with it, and calls
``judge`` with them in the transaction that saves the article (docs/duplicates.md).
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
    """Treats articles of one day with the same headline as one story; ignores case and blanks."""

    scheme = "same-headline/1"

    def keys(self, article: Article) -> Sequence[int]:
        """Return one key in [0, 2**32), or none for an article without a headline."""
        text = headline(article)
        return (zlib.crc32(text.encode("utf-8", "replace")),) if text else ()

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the first stored article of the same day and headline."""
        for other in known:
            same_day = article.published[:10] == other.published[:10]
            if same_day and headline(article) and headline(article) == headline(other):
                return Match(other.url, 1.0, "same-headline")
        return None

    def learn(self, article: Article) -> Sequence[int]:  # noqa: ARG002 - of the interface
        """Return (), as this detector does not learn."""
        return ()

    def know(self, marks: Iterable[int]) -> None:
        """Do nothing, as this detector does not learn."""


def headline(article: Article) -> str:
    """Return the headline of an article, normalized and without blanks."""
    return "".join(fold(article.title).split())

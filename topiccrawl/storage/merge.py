"""Merging of a second save of a URL with the first; the same for every store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.storage.contract import Fate

if TYPE_CHECKING:
    from topiccrawl.model import Article


def joined(known: Article | None, article: Article) -> Article:
    """Return the article with the stored topics added; the newer score wins."""
    if known is None:
        return article
    return replace(article, topics={**known.topics, **article.topics})


def replaces(known: Article, article: Article) -> bool:
    """Return whether a later fetch brought another text, so that the stored one becomes a version.

    Parts of one fetch (``Unfinished``) share its time and make no versions.

    >>> from topiccrawl.model import Article
    >>> known = Article("http://a.test/1", "题", "文", fetched_at=1.0)
    >>> replaces(known, replace(known, body="改", fetched_at=2.0))
    True
    >>> replaces(known, replace(known, fetched_at=2.0)), replaces(known, replace(known, body="改"))
    (False, False)
    """
    if known.fetched_at == article.fetched_at:
        return False
    return known.digest != article.digest or (not known.digest and known.body != article.body)


def fate_of(known: Article, article: Article) -> Fate:
    """Return UNCHANGED if only time and depth of the fetch (and the terms) differ, else UPDATED."""
    after = replace(
        joined(known, article),
        terms=known.terms,
        fetched_at=known.fetched_at,
        depth=known.depth,
    )
    return Fate.UNCHANGED if after == known else Fate.UPDATED

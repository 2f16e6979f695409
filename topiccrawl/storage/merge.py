"""Merging of a second save of a URL with the first; the same for every store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.storage.contract import Fate, Reprint, Version

if TYPE_CHECKING:
    from topiccrawl.dedup.contract import Match
    from topiccrawl.model import Article


def reprint_by(article: Article, match: Match) -> Reprint:
    """Return the entry of an article that reprints a story."""
    return Reprint(
        article.url, article.site, article.title, article.published, article.fetched_at,
        match.similarity, match.reason,
    )  # fmt: skip


def version_of(known: Article, replaced_at: float) -> Version:
    """Return the text of an article as a version, before another one replaces it."""
    text = known.title, known.body, known.published, known.digest
    return Version(*text, known.fetched_at, replaced_at)


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

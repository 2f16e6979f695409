"""Rules for merging an article with a stored one of the same URL, shared by all stores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.storage.contract import Fate, Reprint, Version

if TYPE_CHECKING:
    from topiccrawl.dedup.contract import Match
    from topiccrawl.model import Article


def reprint_by(article: Article, match: Match) -> Reprint:
    """Return an article as a reprint of the matched story."""
    return Reprint(
        article.url, article.site, article.title, article.published, article.fetched_at,
        match.similarity, match.reason,
    )  # fmt: skip


def version_of(known: Article, replaced_at: float) -> Version:
    """Return the text of a stored article as a version, before it is replaced."""
    text = known.title, known.body, known.published, known.digest
    return Version(*text, known.fetched_at, replaced_at)


def merge_topics(known: Article | None, article: Article) -> Article:
    """Return the article with the stored topics added; newer scores win."""
    if known is None:
        return article
    return replace(article, topics={**known.topics, **article.topics})


def is_part(known: Article, article: Article) -> bool:
    """Return whether a stored article is a partial save (``Unfinished``) of the same fetch."""
    return known.fetched_at == article.fetched_at


def replaces(known: Article, article: Article) -> bool:
    """Return whether a later fetch found another text, so that the stored one becomes a version.

    Partial saves of one fetch (``Unfinished``) share its time and create no versions.

    >>> from topiccrawl.model import Article
    >>> known = Article("http://a.test/1", "题", "文", fetched_at=1.0)
    >>> replaces(known, replace(known, body="改", fetched_at=2.0))
    True
    >>> replaces(known, replace(known, fetched_at=2.0)), replaces(known, replace(known, body="改"))
    (False, False)
    """
    if is_part(known, article):
        return False
    return known.digest != article.digest or (not known.digest and known.body != article.body)


def fate_of(known: Article, article: Article) -> Fate:
    """Return UNCHANGED if only fetch time, depth and terms differ, UPDATED otherwise."""
    after = replace(
        merge_topics(known, article),
        terms=known.terms,
        fetched_at=known.fetched_at,
        depth=known.depth,
    )
    return Fate.UNCHANGED if after == known else Fate.UPDATED

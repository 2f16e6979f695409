"""Fields of stored articles, and rules for merging two of the same URL, shared by all stores."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from topiccrawl.model import Article
from topiccrawl.storage.contract import Fate, Reprint, Version
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from topiccrawl.dedup.contract import Match

_APART = ("topics", "terms", "reprint_of")
STORED = tuple(one.name for one in fields(Article) if one.name not in _APART)
"""Fields of an article that are stored once; its topics have scores and terms of their own."""
LISTS = tuple(one.name for one in fields(Article) if one.name in STORED and one.default == ())
"""Those of them that are lists of texts."""
COMPARED = ("url", "title", "body", "site", "published", "digest")
"""Fields of an article that duplicate detection compares."""


def stored_values(article: Article) -> dict[str, Any]:
    r"""Return the values of ``STORED`` by name, in texts that UTF-8 can encode.

    >>> stored_values(Article("http://a.test/1", "a\ud800", ""))["title"]
    'a?'
    """
    return {name: _cleaned(getattr(article, name)) for name in STORED}


def _cleaned(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(clean, value))
    return clean(value) if isinstance(value, str) else value


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

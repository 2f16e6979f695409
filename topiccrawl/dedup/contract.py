"""Interface of duplicate detectors, and the simplest one: the same text."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.model import Article


class Match(NamedTuple):
    """A stored article with the same story.

    Attributes:
        url: URL of that article.
        similarity: In [0, 1]; 1 if the texts are the same.
        reason: Short machine-readable reason (``same-text``).
        follows: True if the new article is a story of its own that follows this one up.
    """

    url: str
    similarity: float
    reason: str
    follows: bool = False


def linked(article: Article, match: Match | None) -> tuple[Article, Match | None]:
    """Return the article, with the story that it follows up, and the match if it is a reprint.

    >>> from topiccrawl.model import Article
    >>> found = linked(Article("http://a.test/2", "", ""), Match("http://a.test/1", 0.6, "", True))
    >>> found[0].follows, found[1]
    ('http://a.test/1', None)
    """
    if match is None or not match.follows:
        return article, match
    return replace(article, follows=match.url), None


@runtime_checkable
class DuplicateDetector(Protocol):
    """A detector of duplicate stories.

    An own one is a class without arguments, whose dotted path is in TOPICCRAWL_DUPLICATES.
    ``tests/contracts/test_duplicate_detectors.py`` has its laws.

    Attributes:
        scheme: Name of the way in which keys are computed; a store with keys of another scheme
            rebuilds them.
    """

    scheme: str

    def keys(self, article: Article) -> Sequence[int]:
        """Return the keys in [0, 2**32) of an article; none if it is never compared."""
        ...

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the best of the stored articles that share a key, if it is the same story.

        A story that the article follows up is returned only where none is the same.
        """
        ...

    def learn(self, article: Article) -> Sequence[int]:
        """Learn from a stored article; return marks of what is new, such as boilerplate.

        Marks are numbers in [0, 2**32); () for a detector that learns nothing.
        """
        ...

    def know(self, marks: Iterable[int]) -> None:
        """Add marks that this or another process learnt."""
        ...


class ExactText:
    """The same main text, whatever its blanks, punctuation, width and case.

    >>> from topiccrawl.model import Article
    >>> first = Article("http://a.test/1", "甲", "", digest="d")
    >>> again = Article("http://b.test/2", "乙", "", digest="d")
    >>> ExactText().judge(again, [first])
    Match(url='http://a.test/1', similarity=1.0, reason='same-text', follows=False)
    """

    name = "exact-text"
    scheme = "exact-text/1"

    def keys(self, article: Article) -> Sequence[int]:
        """Return the digest's first 32 bits, or () if the text is too short for a digest."""
        return (digest_key(article.digest),) if article.digest else ()

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the first article with the same digest."""
        same = (other.url for other in known if other.digest == article.digest)
        url = next(same, None) if article.digest else None
        return None if url is None else Match(url, 1.0, "same-text")

    def learn(self, article: Article) -> Sequence[int]:  # noqa: ARG002 - the contract's
        """Return (): this method learns nothing."""
        return ()

    def know(self, marks: Iterable[int]) -> None:
        """Do nothing: this method learns nothing."""


def digest_key(digest: str) -> int:
    """Return a digest as a key; any text is accepted.

    >>> digest_key("ffffffff00")
    4294967295
    """
    try:
        return int(digest[:8], 16)
    except ValueError:
        return int.from_bytes(hashlib.md5(digest.encode(), usedforsecurity=False).digest()[:4])

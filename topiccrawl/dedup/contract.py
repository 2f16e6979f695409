"""Protocol of duplicate detectors, and the detector of identical texts."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.model import Article


class Match(NamedTuple):
    """Match of an article with a stored one.

    Attributes:
        url: URL of the stored article.
        similarity: Similarity of the texts, in [0, 1]; 1 if they are the same.
        reason: Short machine-readable reason, such as ``same-text``.
        follows: True if the article is a new story that follows up the stored one.
    """

    url: str
    similarity: float
    reason: str
    follows: bool = False


def linked(article: Article, match: Match | None) -> tuple[Article, Match | None]:
    """Return the article, with ``follows`` set for a follow-up, and the match of a reprint.

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
    """Detector of duplicate stories.

    A custom detector is a class that is created without arguments; TOPICCRAWL_DUPLICATES has its
    dotted path. ``tests/contracts/test_duplicate_detectors.py`` tests its contract.

    Attributes:
        scheme: Name of the algorithm that computes keys; a store with keys of another scheme
            rebuilds them.
    """

    scheme: str

    def keys(self, article: Article) -> Sequence[int]:
        """Return the keys of an article, in [0, 2**32); none if it is never compared."""

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the best match among stored articles that share a key, or None.

        A story that the article follows up is returned only if no story is the same.
        """

    def learn(self, article: Article) -> Sequence[int]:
        """Learn from a stored article; return marks of new knowledge, such as boilerplate.

        Marks are numbers in [0, 2**32); () for a detector that learns nothing.
        """

    def know(self, marks: Iterable[int]) -> None:
        """Add marks that this or another process learned."""


class ExactText:
    """Detector of identical main texts, ignoring blanks, punctuation, width and case.

    >>> from topiccrawl.model import Article
    >>> first = Article("http://a.test/1", "甲", "", digest="d")
    >>> again = Article("http://b.test/2", "乙", "", digest="d")
    >>> ExactText().judge(again, [first])
    Match(url='http://a.test/1', similarity=1.0, reason='same-text', follows=False)
    """

    name = "exact-text"
    scheme = "exact-text/1"

    def keys(self, article: Article) -> Sequence[int]:
        """Return the first 32 bits of the digest; () if the text is too short for a digest."""
        return (digest_key(article.digest),) if article.digest else ()

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the first article with the same digest."""
        same = (other.url for other in known if other.digest == article.digest)
        url = next(same, None) if article.digest else None
        return None if url is None else Match(url, 1.0, "same-text")

    def learn(self, article: Article) -> Sequence[int]:  # noqa: ARG002 - protocol
        """Return (): this method learns nothing."""
        return ()

    def know(self, marks: Iterable[int]) -> None:
        """Do nothing: this method learns nothing."""


def digest_key(digest: str) -> int:
    """Return the key of a digest; other text is hashed.

    >>> digest_key("ffffffff00")
    4294967295
    """
    try:
        return int(digest[:8], 16)
    except ValueError:
        return int.from_bytes(hashlib.md5(digest.encode(), usedforsecurity=False).digest()[:4])

"""What every method answers, and the simplest one: the same text."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.model import Article


class Match(NamedTuple):
    """A stored article that tells the same story.

    Attributes:
        url: URL of that article.
        similarity: In [0, 1]; 1 where the texts are the same.
        reason: Short machine-readable reason (``same-text``).
    """

    url: str
    similarity: float
    reason: str


class Method(Protocol):
    """How duplicates are told.

    Attributes:
        name: What the setting calls it.
        scheme: Names how keys are made; a store whose keys are of another scheme makes them anew.
    """

    name: str
    scheme: str

    def keys(self, article: Article) -> Sequence[int]:
        """Keys in [0, 2**32) to look the article up by; none if it is never compared."""
        ...

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """The best of the stored articles that share a key, if it is the same story."""
        ...

    def learn(self, article: Article) -> Sequence[int]:
        """Take note of an article that was kept; marks of boilerplate now known, for ``know``."""
        ...

    def know(self, marks: Iterable[int]) -> None:
        """Take over what this or another process learnt."""
        ...


class ExactText:
    """The same main text, whatever its blanks, punctuation, width and case.

    >>> from topiccrawl.model import Article
    >>> first = Article("http://a.test/1", "甲", "", digest="d")
    >>> again = Article("http://b.test/2", "乙", "", digest="d")
    >>> ExactText().judge(again, [first])
    Match(url='http://a.test/1', similarity=1.0, reason='same-text')
    """

    name = "exact-text"
    scheme = "exact-text/1"

    def keys(self, article: Article) -> Sequence[int]:
        """The digest's first 32 bits, or () where the text is too short."""
        return (digest_key(article.digest),) if article.digest else ()

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """The first article with the same digest."""
        same = (other.url for other in known if other.digest == article.digest)
        url = next(same, None) if article.digest else None
        return None if url is None else Match(url, 1.0, "same-text")

    def learn(self, article: Article) -> Sequence[int]:  # noqa: ARG002 - the contract's
        """Nothing to learn."""
        return ()

    def know(self, marks: Iterable[int]) -> None:
        """Nothing to know."""


def digest_key(digest: str) -> int:
    """A digest as a key; any text will do.

    >>> digest_key("ffffffff00")
    4294967295
    """
    try:
        return int(digest[:8], 16)
    except ValueError:
        return int.from_bytes(hashlib.md5(digest.encode(), usedforsecurity=False).digest()[:4])

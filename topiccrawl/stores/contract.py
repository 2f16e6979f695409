"""The store's contract: what is kept of a crawl, for all topics together.

One record per story: an article whose text is already stored under another URL is not stored
again but recorded as a *reprint* of the first, its representative. Which of the two a page is, is
decided inside the transaction that saves it, so several processes that share a store agree.

Guarantees: when ``save`` returned, what it reports is kept through kill -9 and power cut; when it
raised, nothing of the call is kept and what was stored before is intact. Saving twice equals
saving once. No call blocks the event loop. A store is used from one event loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from topiccrawl.news.article import Article
    from topiccrawl.stores.selection import Selection


class Fate(StrEnum):
    """What became of an article that was saved."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REPRINT = "reprint"
    FORGOTTEN = "forgotten"
    SPOOLED = "spooled"


class Saved(NamedTuple):
    """What became of one article.

    Attributes:
        url: Its URL.
        fate: NEW: a story not stored before. UPDATED: stored under this URL before, and its text,
            metadata or topics changed. UNCHANGED: nothing but time and depth of the fetch did.
            REPRINT: the text of another URL's story; recorded there. FORGOTTEN: not kept, since
            the URL or its site was taken down. SPOOLED: safe on disk until the database is back;
            what it is, is decided then.
        story: URL of the representative: ``url`` itself unless it is a reprint.
        similarity: Of a reprint to its representative, in [0, 1]; 1 otherwise.
        reason: How a reprint was told (``same-text``), "" otherwise.
    """

    url: str
    fate: Fate
    story: str
    similarity: float = 1.0
    reason: str = ""


class Reprint(NamedTuple):
    """A URL that carries a story already stored under another one.

    Attributes:
        url: URL of the reprint.
        site: Its host.
        title: Its own headline.
        published: ISO 8601 as in ``Article``, or "".
        seen_at: When it was fetched last, seconds since the epoch.
        similarity: To the representative, in [0, 1].
        reason: How it was told.
    """

    url: str
    site: str
    title: str
    published: str
    seen_at: float
    similarity: float
    reason: str


class Version(NamedTuple):
    """A text that an article had before.

    Attributes:
        title: Its headline then.
        body: Its text.
        published: As the page told it, or "".
        digest: MD5 of the folded text, or "" for a short one.
        fetched_at: When it was fetched last, seconds since the epoch.
        replaced_at: When the text that followed it was fetched.
    """

    title: str
    body: str
    published: str
    digest: str
    fetched_at: float
    replaced_at: float


@dataclass(frozen=True, slots=True)
class Story:
    """A stored article and who republished it, in the order they were seen first."""

    article: Article
    reprints: tuple[Reprint, ...] = ()


class Store(Protocol):
    """Where articles stay. See the module's text for guarantees."""

    async def open(self) -> None:
        """Make the store ready, creating or migrating it.

        Raises:
            StateVersionError: It was written by a newer version.
            StateError: It is no store.
            StorageError: It cannot be opened or written.
        """
        ...

    async def close(self) -> None:
        """Release it. Twice equals once."""
        ...

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """Save articles in one transaction; their fates, in the same order.

        An article is known by its URL: saving it again replaces its text and metadata, and its
        topics are joined with the stored ones (the newer score of a topic wins). A reprint gives
        its representative the topics that this one lacks. A stored article whose new text is
        another story's keeps its old text and is recorded as a reprint of that story besides.
        A text that a later fetch replaces by another is kept as a version.

        Raises:
            StorageError: Nothing of the call was kept.
        """
        ...

    async def get(self, url: str) -> Story | None:
        """The story that is stored under the URL or that the URL reprints, or None."""
        ...

    async def versions(self, url: str) -> list[Version]:
        """Earlier texts of the article stored under the URL, oldest first."""
        ...

    async def articles(self, topic: str = "", *, limit: int = 0, offset: int = 0) -> list[Article]:
        """Stored articles, those stored last first; ``terms`` are those of the topic asked for.

        Args:
            topic: Only articles of this topic; all where "".
            limit: At most so many; all where 0.
            offset: Leave out so many first.
        """
        ...

    def select(self, selection: Selection = ...) -> AsyncGenerator[Article, None]:
        """The articles of a selection, those stored last first, read as they are asked for.

        Raises:
            StorageError: They cannot be read.
        """
        ...

    async def forget(self, names: Sequence[str], now: float) -> int:
        """Remove what goes by these names, and keep it from coming back; how many went.

        A name is a URL (of an article, its redirect's target, its canonical URL or a reprint) or
        ``site:HOST`` for all of a host and the hosts below it. Text, keys and words go; what stays
        is the name, so that ``save`` answers FORGOTTEN from then on.

        Args:
            names: What to forget.
            now: Seconds since the epoch.

        Raises:
            StorageError: Repeat it; twice equals once.
        """
        ...

    async def expire(self, topic: str, before: float) -> int:
        """Take the topic off its articles fetched before a time; how many.

        Those left without a topic go. They may be stored anew, should they be fetched again.

        Args:
            topic: Its name.
            before: Seconds since the epoch.
        """
        ...

    async def counts(self) -> dict[str, int]:
        """Sizes: ``articles``, ``reprints``, ``topic/NAME`` (articles of a topic)."""
        ...

"""Protocols of the article store and of storages.

A store has the articles of all topics, one record per story. An article whose text is already
stored under another URL is recorded as a *reprint* of that article, its representative. The
transaction that saves an article decides this, so that processes that share a store agree.

After ``save`` returns, the saved articles survive kill -9 and power cuts. If it raises, nothing of
the call is stored, and earlier data is intact. Saving is idempotent. No call blocks the event loop.
A store is used from one event loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from topiccrawl.dedup.index import CAPACITY

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from topiccrawl.dedup import DuplicateDetector
    from topiccrawl.model import Article
    from topiccrawl.storage.documents import DocumentKind, Documents
    from topiccrawl.storage.selection import Selection


class Fate(StrEnum):
    """Result of saving an article."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REPRINT = "reprint"
    FORGOTTEN = "forgotten"
    SPOOLED = "spooled"


class Saved(NamedTuple):
    """A saved article and its fate.

    Attributes:
        url: Its URL.
        fate: NEW: a new story. UPDATED: stored before under this URL; its text, metadata or topics
            changed. UNCHANGED: stored before; only time and depth of the fetch changed. REPRINT:
            recorded as a reprint of the story of another URL. FORGOTTEN: not stored, since the URL
            or its site was removed for good. SPOOLED: on disk until the database is available; the
            final fate is decided then.
        story: URL of the representative: ``url`` itself unless it is a reprint.
        similarity: Similarity of a reprint to its representative, in [0, 1]; 1 otherwise.
        reason: How a reprint was detected (``same-text``), "" otherwise.
        follows: URL of the older story that it follows up, "" if it follows none.
        recorded: False for a reprint that this store has no record of, since another node's store
            has its story.
    """

    url: str
    fate: Fate
    story: str
    similarity: float = 1.0
    reason: str = ""
    follows: str = ""
    recorded: bool = True


class Reprint(NamedTuple):
    """A URL whose story is already stored under another URL.

    Attributes:
        url: URL of the reprint.
        site: Its host.
        title: Its own headline.
        published: ISO 8601 as in ``Article``, or "".
        seen_at: Time of the last fetch, seconds since the epoch.
        similarity: Similarity to the representative, in [0, 1].
        reason: How it was detected, such as ``same-text``.
    """

    url: str
    site: str
    title: str
    published: str
    seen_at: float
    similarity: float
    reason: str


class Version(NamedTuple):
    """An earlier text of an article.

    Attributes:
        title: Headline of that version.
        body: Text of that version.
        published: Publication date stated by the page, or "".
        digest: MD5 of the folded text, or "" for a short one.
        fetched_at: Time of the last fetch, seconds since the epoch.
        replaced_at: Time of the fetch that replaced it, seconds since the epoch.
    """

    title: str
    body: str
    published: str
    digest: str
    fetched_at: float
    replaced_at: float


@dataclass(frozen=True, slots=True)
class Story:
    """A stored article and its reprints, in the order they were first recorded."""

    article: Article
    reprints: tuple[Reprint, ...] = ()


class StoreListener:
    """Base class of listeners to a crawl's store; override the methods that are needed.

    Calls are awaited inside the save: a page is settled only after all listeners have returned, and
    is fetched again if the process is killed before. A ``StorageError`` of a listener fails the
    save, which is then repeated; an article may therefore be announced more than once.
    """

    async def open(self) -> None:
        """Prepare the listener; the store is open, and no article has been saved yet.

        Raises:
            StorageError: It cannot be used; the crawl ends before its first request.
        """

    async def close(self) -> None:
        """Close the listener; the store is still open. Idempotent."""

    async def article_storing(self, articles: Sequence[Article]) -> None:
        """Prepare for the articles of the next transaction.

        Raises:
            StorageError: The articles are not saved.
        """

    async def article_stored(self, articles: Sequence[Article], saved: Sequence[Saved]) -> None:
        """Handle the articles of one committed transaction.

        Spooled articles are announced when they are stored.

        Args:
            articles: Saved articles.
            saved: Their fates, in the same order; never SPOOLED.

        Raises:
            StorageError: The save is repeated.
        """

    async def article_continues(self, url: str) -> None:
        """Handle an article of which further pages are fetched next."""

    async def article_complete(self, url: str) -> None:
        """Handle that all pages of the article of a URL are saved.

        Raises:
            StorageError: The page is fetched again.
        """


class ArticleStore(Protocol):
    """Store of articles; the module docstring has the guarantees."""

    async def open(self) -> None:
        """Open the store, creating or migrating it.

        Raises:
            StateVersionError: It was written by a newer version.
            StateError: It is not a store.
            StorageError: It cannot be opened or written.
        """

    async def close(self) -> None:
        """Close the store. Idempotent."""

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """Save articles in one transaction; return their fates in the same order.

        The URL identifies an article. Saving it again replaces its text and metadata and merges its
        topics with the stored ones; the newer score of a topic wins. A reprint adds missing topics
        to its representative. A stored article whose new text belongs to another story keeps its
        old text and is also recorded as a reprint of that story. A text that a later fetch replaces
        is kept as a version.

        Raises:
            StorageError: Nothing of the call was stored.
        """

    async def get(self, url: str) -> Story | None:
        """Return the story stored under the URL, or reprinted by it, or None."""

    async def versions(self, url: str) -> list[Version]:
        """Return earlier texts of the article stored under the URL, oldest first."""

    def select(self, selection: Selection = ...) -> AsyncGenerator[Article, None]:
        """Yield the articles of a selection, the last stored first, read on demand.

        They have the ``terms`` of the topic of the selection.

        Raises:
            StorageError: They cannot be read.
        """

    async def forget(self, names: Sequence[str], now: float) -> int:
        """Remove all articles and reprints of these names for good; return their number.

        A name is a URL (of an article, its redirect's target, its canonical URL or a reprint) or
        ``site:HOST`` for a host and its subdomains. Text, keys and words are deleted. The names
        are kept, so that ``save`` returns FORGOTTEN for them.

        Args:
            names: Names to forget.
            now: Seconds since the epoch.

        Raises:
            StorageError: The removal may be incomplete; repeat the call, which is idempotent.
        """

    async def expire(self, topic: str, before: float) -> int:
        """Remove the topic from its articles fetched before a time; return their number.

        Articles without another topic are deleted; they are stored again if they are fetched again.

        Args:
            topic: Name of the topic.
            before: Seconds since the epoch.
        """


class Listed(NamedTuple):
    """Entry of a list: an article without its text.

    Attributes:
        url: Its URL.
        title: Headline.
        site: Host.
        published: ISO 8601, or "".
        fetched_at: Seconds since the epoch.
        score: Score for the topic, in [0, 1].
        terms: Matched terms, each with its share of the score, largest first.
        reprints: Number of reprints.
    """

    url: str
    title: str
    site: str
    published: str
    fetched_at: float
    score: float
    terms: tuple[tuple[str, float], ...]
    reprints: int


class StoryChain(NamedTuple):
    """A story and its reprints, in the order they were first recorded."""

    article: Listed
    reprints: tuple[Reprint, ...]


class Listing(Protocol):
    """Read-only lists of the articles stored for a topic."""

    async def page(self, topic: str, limit: int, offset: int) -> tuple[int, list[Listed]]:
        """Return the number of articles, and one page of them, the last stored first.

        Raises:
            StorageError: They cannot be read.
        """

    async def chains(self, topic: str, most: int) -> list[StoryChain]:
        """Return up to ``most`` stories with the most reprints, in descending order."""

    async def close(self) -> None:
        """Close connections. Idempotent."""


class Storage(Protocol):
    """Factory of the stores of a crawl, other than its frontier; TOPICCRAWL_STORAGE names one.

    The objects that it returns share their data, also between processes. Each object is used from
    one event loop.
    """

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Storage | None:
        """Return the storage, configured by settings or environment; None if not configured.

        Raises:
            SettingError: A setting is invalid.
        """

    @property
    def place(self) -> str:
        """Location of the articles for messages: a path, or a URL without its password."""

    def exists(self) -> bool:
        """Return whether the storage exists; False only for a folder without a store."""

    def articles(
        self, method: DuplicateDetector | None = None, capacity: int = CAPACITY
    ) -> ArticleStore:
        """Return the store of articles, not yet opened.

        Args:
            method: Method of duplicate detection; ``VerifiedShingles`` if None.
            capacity: Number of newest articles that a new article is compared with.
        """

    def listing(self) -> Listing:
        """Return lists of the stored articles."""

    def documents(self, *kinds: DocumentKind) -> Documents:
        """Return the store of documents of these kinds, not yet opened."""

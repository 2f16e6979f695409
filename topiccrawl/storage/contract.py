"""The store's contract: articles of all topics together.

One record per story: an article whose text is already stored under another URL is not stored
again but recorded as a *reprint* of the first, its representative. The transaction that saves a
page decides which of the two it is, so several processes that share a store agree.

Guarantees: when ``save`` returned, what it reports survives kill -9 and power cuts; when it
raised, nothing of the call is kept and what was stored before is intact. Saving is idempotent.
No call blocks the event loop. A store is used from one event loop.
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
        fate: NEW: a story not stored before. UPDATED: stored under this URL before, and its text,
            metadata or topics changed. UNCHANGED: nothing but time and depth of the fetch did.
            REPRINT: the text of another URL's story; recorded there. FORGOTTEN: not kept, since
            the URL or its site was taken down. SPOOLED: safe on disk until the database is back;
            its final fate is decided then.
        story: URL of the representative: ``url`` itself unless it is a reprint.
        similarity: Similarity of a reprint to its representative, in [0, 1]; 1 otherwise.
        reason: How a reprint was detected (``same-text``), "" otherwise.
        follows: URL of the older story that it follows up, "" if it follows none.
    """

    url: str
    fate: Fate
    story: str
    similarity: float = 1.0
    reason: str = ""
    follows: str = ""


class Reprint(NamedTuple):
    """A URL that carries a story already stored under another one.

    Attributes:
        url: URL of the reprint.
        site: Its host.
        title: Its own headline.
        published: ISO 8601 as in ``Article``, or "".
        seen_at: When it was fetched last, seconds since the epoch.
        similarity: Similarity to the representative, in [0, 1].
        reason: How it was detected.
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
        title: Its headline then.
        body: Its text.
        published: Date of publication as on the page, or "".
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
    """A stored article and its reprints, in the order they were first recorded."""

    article: Article
    reprints: tuple[Reprint, ...] = ()


class StoreListener:
    """Base class of listeners to a crawl's store; override the calls that are needed.

    Calls are awaited inside the save: a page settles only after all listeners have returned, and
    is fetched again after a kill in between. A ``StorageError`` of a listener fails the save, which
    is then repeated; so one article may be announced more than once.
    """

    async def open(self) -> None:
        """Prepare the listener; the store is open, and no article has been saved yet.

        Raises:
            StorageError: It cannot be used: the crawl ends before its first request.
        """

    async def close(self) -> None:
        """Close the listener; the store is still open. Idempotent."""

    async def article_storing(self, articles: Sequence[Article]) -> None:
        """Prepare for articles that the next transaction saves.

        Raises:
            StorageError: They are not saved.
        """

    async def article_stored(self, articles: Sequence[Article], saved: Sequence[Saved]) -> None:
        """Handle the articles of one committed transaction.

        Articles that waited on disk for their database are announced when they are stored.

        Args:
            articles: The articles that were saved.
            saved: Their fates, in the same order; never SPOOLED.

        Raises:
            StorageError: They are saved again.
        """

    async def article_continues(self, url: str) -> None:
        """Expect an article that is only the first pages of its story; more are fetched next."""

    async def article_complete(self, url: str) -> None:
        """Handle that the article saved last under a URL is all of its story.

        Raises:
            StorageError: The page is fetched again.
        """


class ArticleStore(Protocol):
    """Store of articles. See the module's docstring for guarantees."""

    async def open(self) -> None:
        """Open the store, creating or migrating it.

        Raises:
            StateVersionError: It was written by a newer version.
            StateError: It is not a store.
            StorageError: It cannot be opened or written.
        """
        ...

    async def close(self) -> None:
        """Close the store. Idempotent."""
        ...

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """Save articles in one transaction; return their fates in the same order.

        The URL identifies an article: saving it again replaces its text and metadata, and joins its
        topics with the stored ones (the newer score of a topic wins). A reprint adds its topics to
        its representative where they are missing. A stored article whose new text is another
        story's keeps its old text and is also recorded as a reprint of that story. A text that a
        later fetch replaces is kept as a version.

        Raises:
            StorageError: Nothing of the call was kept.
        """
        ...

    async def get(self, url: str) -> Story | None:
        """Return the story that is stored under the URL or that the URL reprints, or None."""
        ...

    async def versions(self, url: str) -> list[Version]:
        """Return earlier texts of the article stored under the URL, oldest first."""
        ...

    async def articles(self, topic: str = "", *, limit: int = 0, offset: int = 0) -> list[Article]:
        """Return stored articles, the last stored first; ``terms`` are those of the topic.

        Args:
            topic: Only articles of this topic; all if "".
            limit: Maximum number of articles; all if 0.
            offset: Number of articles to skip first.
        """
        ...

    def select(self, selection: Selection = ...) -> AsyncGenerator[Article, None]:
        """Yield the articles of a selection, the last stored first, read on demand.

        Raises:
            StorageError: They cannot be read.
        """
        ...

    async def forget(self, names: Sequence[str], now: float) -> int:
        """Remove all articles and reprints of these names for good; return their number.

        A name is a URL (of an article, its redirect's target, its canonical URL or a reprint) or
        ``site:HOST`` for a host and its subdomains. Text, keys and words are deleted. The name is
        kept, so that ``save`` returns FORGOTTEN from then on.

        Args:
            names: Names to forget.
            now: Seconds since the epoch.

        Raises:
            StorageError: Repeat the call; it is idempotent.
        """
        ...

    async def expire(self, topic: str, before: float) -> int:
        """Remove the topic from its articles fetched before a time; return their number.

        Articles left without a topic are deleted. They are stored again if they are fetched again.

        Args:
            topic: Its name.
            before: Seconds since the epoch.
        """
        ...

    async def counts(self) -> dict[str, int]:
        """Return sizes: ``articles``, ``reprints``, ``topic/NAME`` (articles of a topic)."""
        ...


class Listed(NamedTuple):
    """An entry of a list: an article without its text.

    Attributes:
        url: Its URL.
        title: Headline.
        site: Host.
        published: ISO 8601, or "".
        fetched_at: Seconds since the epoch.
        score: Score for the topic, in [0, 1].
        terms: Matched terms, each with its share of the score, largest first.
        reprints: Number of URLs that carry the same story.
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
        ...

    async def chains(self, topic: str, most: int) -> list[StoryChain]:
        """Return the stories with the most reprints, most first."""
        ...

    async def close(self) -> None:
        """Close connections. Idempotent."""
        ...


class Storage(Protocol):
    """Factory of all that a crawl stores besides its frontier; TOPICCRAWL_STORAGE names one.

    Objects that it makes share what is stored, also with those of other processes. Each is used
    from one event loop.
    """

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Storage | None:
        """Return the storage that settings (or the environment) name; None if they name none.

        Raises:
            SettingError: They cannot be used.
        """
        ...

    @property
    def place(self) -> str:
        """The place of the articles for people: a file, or a server without its password."""
        ...

    def exists(self) -> bool:
        """Return whether the place exists; False only for a folder without a store."""
        ...

    def articles(
        self, method: DuplicateDetector | None = None, capacity: int = CAPACITY
    ) -> ArticleStore:
        """Return the store of articles, closed.

        Args:
            method: Method of duplicate detection; ``VerifiedShingles`` if None.
            capacity: Number of articles that a new one is compared with, the newest.
        """
        ...

    def listing(self) -> Listing:
        """Return lists of the stored articles."""
        ...

    def documents(self, *kinds: DocumentKind) -> Documents:
        """Return the documents of some kinds, closed."""
        ...

"""Log of topic changes during crawls, with the learned state of the last change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from topiccrawl.storage.documents import DocumentKind, Documents
from topiccrawl.storage.factory import opened, run_in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from topiccrawl.storage.contract import Storage

T = TypeVar("T")


class TopicChange(NamedTuple):
    """One change of a topic.

    Attributes:
        topic: The topic's name.
        frontier: Folder of the frontier whose crawl changed it.
        number: Number among the changes of that topic and frontier, from 1.
        at: Time of the change, seconds since the epoch.
        method: Learning method.
        reason: Description of the cause.
        pages: Number of pages that the crawl had fetched.
        own: The user's terms and weights at that time.
        terms: All terms and weights after the change.
        lower_limit: Minimum relevance of a relevant page; None if unchanged.
        upper_limit: Upper limit of the topic; None if unchanged.
    """

    topic: str
    frontier: str
    number: int
    at: float
    method: str
    reason: str
    pages: int
    own: dict[str, float]
    terms: dict[str, float]
    lower_limit: float | None = None
    upper_limit: float | None = None


CHANGES = DocumentKind(
    "topic_changes",
    TopicChange._fields,
    key=4,
    nested=frozenset({"own", "terms"}),
)
LEARNT = DocumentKind(
    "topic_learnt", ("topic", "frontier", "state"), key=2, nested=frozenset({"state"})
)


class ChangeLog:
    """Log of the changes of all topics of a storage.

    Calls block: use a thread if an event loop runs. Every call opens the storage and raises the
    errors of ``ArticleStore.open``.

    Args:
        storage: Storage of the log.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def add(self, change: TopicChange, state: Mapping[str, Any]) -> None:
        """Store a change, and replace the learned state.

        Raises:
            StorageError: The change was not stored.
        """
        learnt = {"topic": change.topic, "frontier": change.frontier, "state": state}
        # store the change last: without transactions, it must never lack its state
        both = {LEARNT: [learnt], CHANGES: [change._asdict()]}
        self._call(lambda documents: documents.put(both))

    def all(self, topic: str = "", frontier: str = "") -> list[TopicChange]:
        """Return all changes (of a topic and frontier, if given), oldest first; create no file."""
        named = {"topic": topic, "frontier": frontier}
        where = {name: value for name, value in named.items() if value}
        found = self._call(lambda documents: documents.find(CHANGES, where, order=("at", "number")))
        return [TopicChange(**one) for one in found]

    def last(self, topic: str, frontier: str) -> tuple[TopicChange, dict[str, Any]] | None:
        """Return the last change of a topic and frontier with the learned state, or None."""
        changes = self.all(topic, frontier)
        found = self._call(lambda documents: documents.get(LEARNT, [(topic, frontier)]))
        return (changes[-1], found[0]["state"]) if changes and found else None

    def forget(self, topic: str, frontier: str) -> None:
        """Delete the learned state; a fresh crawl starts with the user's terms.

        The changes are kept under the path of the frontier with ``#`` appended.
        """
        which = {"topic": topic, "frontier": frontier}

        async def work(documents: Documents) -> None:
            changes = await documents.find(CHANGES, which)
            past = [{**change, "frontier": f"{frontier}#"} for change in changes]
            await documents.put({CHANGES: past})
            await documents.delete(CHANGES, which)
            await documents.delete(LEARNT, which)

        self._call(work)

    def _call(self, work: Callable[[Documents], Coroutine[Any, Any, T]]) -> T:
        """Open the documents, run a coroutine function on them and return its result."""

        async def done() -> T:
            async with opened(self._storage.documents(CHANGES, LEARNT)) as documents:
                return await work(documents)

        return run_in_thread(done())

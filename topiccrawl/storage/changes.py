"""Changes of topics during their crawls: every change, and the state learnt for the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from topiccrawl.storage.choice import opened, run_apart
from topiccrawl.storage.documents import DocumentKind, Documents

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
        reason: Reason in words.
        pages: Pages the crawl had fetched.
        own: The user's terms and weights at that time.
        terms: All terms and weights from then on.
        lower_limit: Page relevance from which a page is relevant; None: unchanged.
        upper_limit: The upper limit; None: unchanged.
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
    """The changes of all topics of a storage.

    Blocking: call it from a thread if an event loop runs. Every call opens the storage itself;
    errors are those of ``Store.open``.

    Args:
        storage: Where they are stored.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def add(self, change: TopicChange, state: Mapping[str, Any]) -> None:
        """Store a change, and the state learnt until then in place of the earlier one.

        Raises:
            StorageError: The change was not stored.
        """
        learnt = {"topic": change.topic, "frontier": change.frontier, "state": state}
        # the change last: where there are no transactions, it never lacks its state
        both = {LEARNT: [learnt], CHANGES: [change._asdict()]}
        self._call(lambda documents: documents.put(both))

    def all(self, topic: str = "", frontier: str = "") -> list[TopicChange]:
        """Return all changes (of a topic, of a frontier), oldest first; creates no file."""
        named = {"topic": topic, "frontier": frontier}
        where = {name: value for name, value in named.items() if value}
        found = self._call(lambda documents: documents.find(CHANGES, where, order=("at", "number")))
        return [TopicChange(**one) for one in found]

    def last(self, topic: str, frontier: str) -> tuple[TopicChange, dict[str, Any]] | None:
        """Return the last change of a topic and frontier with the learnt state, or None."""
        changes = self.all(topic, frontier)
        found = self._call(lambda documents: documents.get(LEARNT, [(topic, frontier)]))
        return (changes[-1], found[0]["state"]) if changes and found else None

    def forget(self, topic: str, frontier: str) -> None:
        """Drop the learnt state; a crawl that starts over uses the user's terms.

        The changes themselves are kept under the frontier's folder with ``#`` behind it.
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
        """Return the result of some work on the documents."""

        async def done() -> T:
            async with opened(self._storage.documents(CHANGES, LEARNT)) as documents:
                return await work(documents)

        return run_apart(done())

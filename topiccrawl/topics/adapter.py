"""Interface of topic adapters, which learn from a crawl; used by crawls and replays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics.scorer import Scorer
    from topiccrawl.topics.vector import TopicVector


class TopicUpdate(NamedTuple):
    """A changed topic, and the reason.

    Attributes:
        method: Name of the method that made it.
        vector: Terms and weights; the user's own are always among them.
        reason: Evidence in words, for the operator.
        pages: Judged pages until then.
        lower_limit: Page relevance from which a page is relevant; None: unchanged.
        upper_limit: Page relevance above which all links enter priorQueue; None: unchanged.
    """

    method: str
    vector: TopicVector
    reason: str
    pages: int
    lower_limit: float | None = None
    upper_limit: float | None = None


class LearntTopic(Protocol):
    """Part of adapters and their methods: what was learnt, and the topic that it gives."""

    def adapt(self) -> TopicUpdate | None:
        """Return the changed topic, or None if it is not yet time or nothing was learnt."""
        ...

    def present(self) -> TopicUpdate | None:
        """Return the topic after all changes (after ``restore``: the restored one), or None."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the learnt state as plain JSON, for a later run."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what ``state`` returned."""
        ...


class TopicAdapter(LearntTopic, Protocol):
    """Adapter that learns from judged pages and changes the topic of pages and links.

    ``TOPICCRAWL_ADAPTER`` names a function of (settings, scorer, strategy) that returns one, or
    None if nothing is to be learnt. The scorer has the user's own topic; the strategy scores links
    with it and gets another one when the topic changes.
    """

    method: str
    """Name of the method; state that was learnt with another method is not restored."""
    scorer: Scorer
    """Current scorer of pages."""

    def learn(self, page: Page, verdict: Verdict) -> bool:
        """Record a judged page; return True if its words were learnt."""
        ...

    def apply(self, number: int, change: TopicUpdate | None = None) -> None:
        """Score with a change from now on.

        Args:
            number: Number of the change, from 1; queued scores carry it.
            change: The change; None keeps the scorers and marks queued scores as outdated.
        """
        ...

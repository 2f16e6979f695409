"""How a topic learns from its own crawl: what a crawl and a replay need of an adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics.scorer import Scorer
    from topiccrawl.topics.vector import TopicVector


class Change(NamedTuple):
    """A topic as it is from now on, and why.

    Attributes:
        method: Name of the method that made it.
        vector: Terms and weights; the user's own are always among them.
        reason: Evidence in words, for the operator.
        pages: Pages seen until then.
        lower_limit: Page relevance from which a page is relevant; None: unchanged.
        upper_limit: Page relevance above which all links enter priorQueue; None: unchanged.
    """

    method: str
    vector: TopicVector
    reason: str
    pages: int
    lower_limit: float | None = None
    upper_limit: float | None = None


class TopicAdapter(Protocol):
    """Learns from judged pages and changes what pages and links are scored with.

    ``TOPICCRAWL_ADAPTER`` names a function of (settings, scorer, strategy) that returns one, or
    None where nothing is to be learnt. The scorer has the user's own topic; the strategy scores
    links with it and is given another one when the topic changes.
    """

    method: str
    """Name of the method: what was learnt with another one is not taken up."""
    scorer: Scorer
    """Scores pages from now on."""

    def learn(self, page: Page, verdict: Verdict) -> bool:
        """Take note of a judged page; True where its words were learnt."""
        ...

    def adapt(self) -> Change | None:
        """Return the changed topic, or None where it is not yet time or nothing was learnt."""
        ...

    def present(self) -> Change | None:
        """Return the topic as it is after all changes (after ``restore``: as it was), or None."""
        ...

    def apply(self, number: int, change: Change | None = None) -> None:
        """Score with a change from now on.

        Args:
            number: Of the change, from 1; says which one a queued value is of.
            change: None: the scorers stay, and queued values are those of another topic.
        """
        ...

    def state(self) -> dict[str, Any]:
        """Return all it has learnt, as plain JSON, for a later run."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what ``state`` gave."""
        ...

"""Interfaces of relevance models, which score pages, and of adapters, which change the topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics.scorer import Scorer
    from topiccrawl.topics.vector import TopicVector

Reasons = tuple[tuple[str, float], ...]
"""Words with their contributions to the verdict, largest first; negative ones count against it."""


class RelevanceModel(Protocol):
    """Model that scores pages. Immutable: learning returns a new model with a new signature.

    Implementations pass ``tests/contracts/test_relevance_models.py``.
    """

    def score_page(self, page: Page) -> Verdict:
        """Score a page; the result does not depend on pages scored before.

        Returns:
            Relevance, article share and harvest in [0, 1]; ``terms`` as ``explain`` returns them.
        """

    def explain(self, page: Page) -> Reasons:
        """Return the decisive words of the page; () if there are none."""

    def signature(self) -> str:
        """Return a short text that identifies everything that verdicts depend on.

        It is stable across restarts. A stored verdict with another signature is out of date.
        """


class TopicUpdate(NamedTuple):
    """A change of the topic, with its reason.

    Attributes:
        method: Name of the method that made the change.
        vector: Terms and weights; always includes the user's own terms.
        reason: Explanation for the operator.
        pages: Number of judged pages before the change.
        lower_limit: Relevance from which a page is relevant; None if unchanged.
        upper_limit: Relevance above which all links of a page enter priorQueue; None if unchanged.
    """

    method: str
    vector: TopicVector
    reason: str
    pages: int
    lower_limit: float | None = None
    upper_limit: float | None = None


class TopicAdapter(Protocol):
    """Adapter that learns from judged pages and changes the topic for pages and links.

    ``TOPICCRAWL_ADAPTER`` is the dotted path of a function of (settings, scorer, strategy) that
    returns an adapter, or None to disable adaptation. The scorer has the user's own topic. The
    strategy scores links with it and gets another scorer when the topic changes.
    """

    method: str
    """Name of the method; the state of another method is not restored."""
    scorer: Scorer
    """Current scorer of pages."""

    def learn(self, page: Page, verdict: Verdict) -> bool:
        """Learn from a judged page; return True if its words were used."""

    def apply(self, number: int, change: TopicUpdate | None = None) -> None:
        """Apply a change to the scorers of pages and links.

        Args:
            number: Number of the change, from 1; stored with queued scores.
            change: The change; None keeps the scorers and only marks queued scores as outdated.
        """

    def adapt(self) -> TopicUpdate | None:
        """Return the changed topic, or None if no change is due or nothing was learned."""

    def present(self) -> TopicUpdate | None:
        """Return the current changed topic, including a restored one, or None."""

    def state(self) -> dict[str, Any]:
        """Return the learned state as JSON-serializable values, for a later run."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that ``state`` returned."""

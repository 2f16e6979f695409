"""Interface of relevance models, which score pages against a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from topiccrawl.model import Page, Verdict

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
        ...

    def explain(self, page: Page) -> Reasons:
        """Return the decisive words of the page; () if there are none."""
        ...

    def signature(self) -> str:
        """Return a short text that identifies everything that verdicts depend on.

        It is stable across restarts. A stored verdict with another signature is out of date.
        """
        ...

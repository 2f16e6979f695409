"""Interface of relevance models, which judge pages against a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from topiccrawl.model import Page, Verdict

Reasons = tuple[tuple[str, float], ...]
"""Words with their contributions to the verdict, heaviest first; below 0: against the topic."""


class RelevanceModel(Protocol):
    """Judge of pages. It is immutable: learning returns a new model with a new signature.

    Implementations pass ``tests/contracts/test_relevance_models.py``.
    """

    def score_page(self, page: Page) -> Verdict:
        """Judge a page; the result does not depend on the pages judged before.

        Returns:
            Relevance, article share and harvest in [0, 1]; ``terms`` as ``explain`` returns them.
        """
        ...

    def explain(self, page: Page) -> Reasons:
        """Return the words of the page that decided; () if none did."""
        ...

    def signature(self) -> str:
        """Return a short text that changes with everything that verdicts depend on.

        It is the same after a restart. A stored verdict of another signature is out of date.
        """
        ...

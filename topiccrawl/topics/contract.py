"""The seam for judges of pages: what is on topic, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from topiccrawl.model import Page, Verdict

Reasons = tuple[tuple[str, float], ...]
"""Words with what each adds to the judgement, below 0 against the topic; heaviest first."""


class RelevanceModel(Protocol):
    """Judges pages. It does not change: what learns gives a new model with a new signature.

    Implementations pass ``tests/contracts/test_relevance_models.py``.
    """

    def score_page(self, page: Page) -> Verdict:
        """Judge a page: the same page always alike, whatever was judged before.

        Returns:
            Relevance, article share and harvest in [0, 1]; ``terms`` as ``explain`` gives them.
        """
        ...

    def explain(self, page: Page) -> Reasons:
        """The words of the page that decided; () where none did."""
        ...

    def signature(self) -> str:
        """A short text that changes with anything that verdicts depend on, and survives a restart.

        A stored verdict of another signature is out of date.
        """
        ...

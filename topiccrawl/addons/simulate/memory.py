"""A scorer that remembers: several replays for one topic judge every text once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.topics import Scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.model import Page, Verdict
    from topiccrawl.text.idf import Idf
    from topiccrawl.text.tokens import Tokenizer
    from topiccrawl.topics import TopicVector
    from topiccrawl.topics.topic import Topic


class RememberingScorer(Scorer):
    """The production scorer; pages and link texts that it scored before cost a look-up.

    It holds every text it scored, so its memory grows with the collection, about as large as its
    link texts.
    """

    most_vectors = 2_000
    """Page vectors that are held, about 40 MB; a crawl learns from fewer pages."""

    @override
    def __init__(
        self,
        topic: Topic,
        tokenizer: Tokenizer | None = None,
        idf: Idf | None = None,
        *,
        vector: TopicVector | None = None,
        lower_limit: float | None = None,
    ) -> None:
        super().__init__(topic, tokenizer, idf, vector=vector, lower_limit=lower_limit)
        self._verdicts: dict[str, Verdict] = {}
        self._scores: dict[str, float] = {}
        self._vectors: dict[tuple[str, str], dict[str, float]] = {}

    @override
    def score_page(self, page: Page) -> Verdict:
        """As the scorer's, cached by the page's URL."""
        verdict = self._verdicts.get(page.url)
        if verdict is None:
            verdict = self._verdicts[page.url] = super().score_page(page)
        return verdict

    @override
    def score_many(self, texts: Sequence[str]) -> list[float]:
        """As the scorer's; only new texts are scored."""
        scores = self._scores
        fresh = [text for text in texts if text not in scores]
        if fresh:
            scores.update(zip(fresh, super().score_many(fresh), strict=True))
        return [scores[text] for text in texts]

    @override
    def page_vector(self, text: str, title: str = "") -> dict[str, float]:
        """As the scorer's, cached; the caller must not change it."""
        vector = self._vectors.get((text, title))
        if vector is None:
            vector = super().page_vector(text, title)
            if len(self._vectors) < self.most_vectors:
                self._vectors[text, title] = vector
        return vector

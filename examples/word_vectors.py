"""Custom relevance model, which finds pages on topic that do not contain the topic's words.

    scrapy crawl topic -a topic=新能源汽车 \
        -s TOPICCRAWL_RELEVANCE=examples.word_vectors.judge -s WORD_VECTORS=vectors.vec

The file has word vectors in word2vec's text format: a word and its numbers on each line (fastText
and others publish such files). To use sentence embeddings, replace ``_sum`` (docs/judge.md).
"""

from __future__ import annotations

import hashlib
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from topiccrawl.text import fold
from topiccrawl.topics import OnWordScale, Scorer, word_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from scrapy.settings import BaseSettings

    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics import RelevanceModel

    Floats = npt.NDArray[np.float32]

RELEVANT = 0.5
"""Minimum cosine of a relevant page."""
HEADER = 2
"""Fields of a first line that is no word: the number of words, and of numbers for each."""
MAX_TERMS = 10
"""Number of words in an explanation."""


def judge(settings: BaseSettings, scorer: Scorer) -> RelevanceModel:
    """Return the relevance model of a topic, on the scale of the scores by words."""
    return OnWordScale(WordVectors(scorer, Path(settings["WORD_VECTORS"])), scorer)


class WordVectors:
    """Relevance model: cosine of the mean vectors of page and topic.

    Args:
        scorer: Scorer by the topic's words.
        file: File of word vectors.
    """

    def __init__(self, scorer: Scorer, file: Path) -> None:
        lines = file.read_text(encoding="utf-8").splitlines()
        if lines and len(lines[0].split()) == HEADER:
            del lines[0]
        self._vectors = {fold(word): _unit(numbers) for word, numbers in map(_parsed, lines)}
        topic = self._sum(
            {
                word: weight * share
                for term, weight in scorer.vector.items()
                for word, share in word_weights(term).items()
            }
        )
        self._topic = topic / (np.linalg.norm(topic) or 1.0)
        self._scorer = scorer
        self._digest = hashlib.sha256(file.read_bytes()).hexdigest()[:12]

    def score_page(self, page: Page) -> Verdict:
        """Return the cosine as relevance, and the words with the largest parts of it."""
        weights = word_weights(Scorer.judged_text(page), page.title)
        length = float(np.linalg.norm(self._sum(weights))) or 1.0
        parts = {
            word: float(weight * self._vectors[word] @ self._topic) / length
            for word, weight in weights.items()
            if word in self._vectors
        }
        relevance = min(1.0, max(0.0, sum(parts.values())))
        terms = nlargest(MAX_TERMS, parts.items(), key=lambda pair: abs(pair[1]))
        return self._scorer.score_page(page)._replace(  # keeps the article share
            relevance=relevance, relevant=relevance >= RELEVANT, terms=tuple(terms)
        )

    def explain(self, page: Page) -> tuple[tuple[str, float], ...]:
        """Return the words with the largest parts of the relevance, largest first."""
        return self.score_page(page).terms

    def signature(self) -> str:
        """Return a string that changes with the topic and the vectors."""
        return f"vectors-{self._digest}-{self._scorer.signature()}"

    def _sum(self, words: Mapping[str, float]) -> Floats:
        """Return the weighted sum of the words' vectors."""
        total = np.zeros_like(next(iter(self._vectors.values())))
        for word in words.keys() & self._vectors.keys():
            total += words[word] * self._vectors[word]
        return total


def _parsed(line: str) -> tuple[str, list[str]]:
    word, *numbers = line.split()
    return word, numbers


def _unit(numbers: list[str]) -> Floats:
    vector = np.array(numbers, np.float32)
    return vector / (np.linalg.norm(vector) or 1.0)

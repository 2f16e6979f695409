"""A page as a vector of hashed words, the input of classifiers."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from xxhash import xxh32_intdigest

from topiccrawl.text.idf import Idf, corpus_idf
from topiccrawl.text.tokens import Tokenizer, shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt


BUCKETS = 1 << 18
"""Places of a vector; of 40,000 different words one in seven would share its place."""

TITLE_WEIGHT = 3
"""Weight of a title's words, as a multiple of the text's."""


class Document(NamedTuple):
    """A sparse vector of L2 norm 1, or empty.

    Attributes:
        places: Buckets of its words, ascending, each once.
        values: Their TF-IDF, above 0.
    """

    places: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]


def bucket(word: str) -> int:
    """Return the place of a word, the same on all machines."""
    return xxh32_intdigest(word.encode()) % BUCKETS


def word_weights(
    text: str, title: str = "", tokenizer: Tokenizer | None = None, idf: Idf | None = None
) -> dict[str, float]:
    """Return the TF-IDF of a text's words, L2 norm 1: ``sqrt(tf) · idf``, numbers left out.

    Args:
        text: The page's text, in any width, case or script.
        title: Its title.
        tokenizer: Tokenizer; None for the shared one.
        idf: Document frequencies; None for the shipped ones.

    >>> word_weights("football, football", "")
    {'football': 1.0}
    """
    cut, rarity = tokenizer or shared_tokenizer(), idf or corpus_idf()
    counts = Counter(cut.words(text))
    for word in cut.words(title):
        counts[word] += TITLE_WEIGHT
    weights = {w: math.sqrt(n) * rarity(w) for w, n in counts.items() if not w.isdecimal()}
    norm = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {word: weight / norm for word, weight in weights.items()}


def document(weights: Mapping[str, float]) -> Document:
    """Return the hashed vector of weighted words; weights at the same place are added."""
    places = np.fromiter(map(bucket, weights), np.int64, len(weights))
    unique, inverse = np.unique(places, return_inverse=True)
    values = np.zeros(len(unique))
    np.add.at(values, inverse, np.fromiter(weights.values(), np.float64, len(weights)))
    return Document(unique, values)

"""Vectors of hashed words, the input of classifiers."""

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
"""Dimensions of a vector; of 40,000 distinct words one in seven shares its bucket."""

TITLE_WEIGHT = 3
"""Weight of words in the title, relative to words in the text."""


class Document(NamedTuple):
    """Sparse vector with L2 norm 1, or empty.

    Attributes:
        places: Distinct buckets of the words, ascending.
        values: TF-IDF of the buckets, above 0.
    """

    places: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]


def bucket(word: str) -> int:
    """Return the bucket of a word; the same on all machines."""
    return xxh32_intdigest(word.encode()) % BUCKETS


def word_weights(
    text: str, title: str = "", tokenizer: Tokenizer | None = None, idf: Idf | None = None
) -> dict[str, float]:
    """Return the TF-IDF ``sqrt(tf) · idf`` of a text's words without numbers, with L2 norm 1.

    Args:
        text: Text of the page, in any width, case or script.
        title: Title of the page.
        tokenizer: Tokenizer; None for the shared tokenizer.
        idf: Inverse document frequencies; None for the bundled table.

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
    """Hash weighted words to a vector; weights in the same bucket are added."""
    places = np.fromiter(map(bucket, weights), np.int64, len(weights))
    unique, inverse = np.unique(places, return_inverse=True)
    values = np.zeros(len(unique))
    np.add.at(values, inverse, np.fromiter(weights.values(), np.float64, len(weights)))
    return Document(unique, values)

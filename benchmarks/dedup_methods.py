"""Compared methods: the project's, SimHash and MinHash."""

from __future__ import annotations

import importlib
import sys
import time
from collections import Counter, defaultdict
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import xxhash

from topiccrawl.dedup.factory import NAMES, index_of, load_detector
from topiccrawl.text.digest import fold
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.dedup import Spool
    from topiccrawl.dedup import DuplicateDetector
    from topiccrawl.model import Article

DISTANCE = 3
"""Maximum number of different bits, of 64, in SimHashes of one story (Manku et al. 2007)."""

THRESHOLD = 0.5
"""Minimum Jaccard of MinHash."""

PERMUTATIONS = 128
_BANDS = 4
_BITS = 64
_SHINGLE = 5


class Detector(Protocol):
    """Takes articles in turn and returns the story of each."""

    def prepare(self, article: Article) -> Any:  # noqa: ANN401 - each detector's own
        """Compute the features of the text."""
        ...

    def see(self, article: Article, prepared: Any) -> str | None:  # noqa: ANN401 - each detector's own
        """Return the URL of the story it reprints; otherwise keep it and return None."""
        ...

    def bytes(self) -> float:
        """RAM of the index, or nan if it is measured from outside."""
        ...


class Indexed:
    """A method of the project with its index.

    Args:
        method: Method that detects duplicates.
        texts: Store of the articles; a list if None.

    Attributes:
        seconds: Processor time of look-ups and insertions in the index.
    """

    def __init__(self, method: DuplicateDetector, texts: InMemory | Spool | None = None) -> None:
        self.method = method
        self.index = index_of(method, 10_000_000)
        self.texts = texts or InMemory()
        self.seconds = 0.0

    def prepare(self, article: Article) -> Sequence[int]:
        """Return the keys of an article."""
        return self.method.keys(article)

    def see(self, article: Article, prepared: Sequence[int]) -> str | None:
        """Judge an article as the store does."""
        known = [self.texts.get(number) for number in self.find(prepared)]
        match = self.method.judge(article, known)
        if match is not None and not match.follows:
            return match.url
        self.add(self.texts.add(article), prepared)
        self.method.learn(article)
        return None

    def find(self, keys: Sequence[int]) -> list[int]:
        """``KeyIndex.find``, timed."""
        begin = time.process_time()
        found = self.index.find(keys)
        self.seconds += time.process_time() - begin
        return found

    def add(self, number: int, keys: Sequence[int]) -> None:
        """``KeyIndex.add``, timed."""
        begin = time.process_time()
        self.index.add(number, keys)
        self.seconds += time.process_time() - begin

    def bytes(self) -> float:
        """Return the RAM of the tables."""
        return float(self.index.bytes)


class InMemory:
    """Articles by number, from 1, in a list."""

    def __init__(self) -> None:
        self._kept: list[Article] = []

    def add(self, article: Article) -> int:
        """Store an article; return its number."""
        self._kept.append(article)
        return len(self._kept)

    def get(self, number: int) -> Article:
        """Return the article with a number."""
        return self._kept[number - 1]


class SimHash:
    """64 bits of the body's words, weighted by count; candidates by four bands of 16 bits."""

    def __init__(self) -> None:
        self._bands: list[dict[int, list[tuple[int, str]]]] = [
            defaultdict(list) for _ in range(_BANDS)
        ]

    def prepare(self, article: Article) -> int:
        """Return the SimHash."""
        counts = Counter(shared_tokenizer().words(article.body))
        if not counts:
            return 0
        hashes = np.array([xxhash.xxh3_64_intdigest(w.encode()) for w in counts], dtype=np.uint64)
        bits = np.unpackbits(hashes.view(np.uint8)).reshape(len(hashes), _BITS).astype(np.int64)
        weights = np.fromiter(counts.values(), np.int64, len(counts))
        ones = (bits * 2 - 1).T @ weights > 0
        return int(np.packbits(ones).view(np.uint64)[0])

    def see(self, article: Article, prepared: int) -> str | None:
        """Return the first one within ``DISTANCE`` bits."""
        parts = [prepared >> (16 * band) & 0xFFFF for band in range(_BANDS)]
        for band, part in zip(self._bands, parts, strict=True):
            for other, url in band[part]:
                if (other ^ prepared).bit_count() <= DISTANCE:
                    return url
        for band, part in zip(self._bands, parts, strict=True):
            band[part].append((prepared, article.url))
        return None

    def bytes(self) -> float:
        """Return the RAM of lists, pairs and numbers."""
        rows = [row for band in self._bands for row in band.values()]
        pair = sys.getsizeof((0, "")) + sys.getsizeof(2**60)
        tables = sum(map(sys.getsizeof, self._bands)) + sum(map(sys.getsizeof, rows))
        return float(tables + pair * sum(map(len, rows)))


class MinHash:
    """datasketch's MinHash and its LSH over runs of five characters, verified by the estimate."""

    def __init__(self) -> None:
        self._library = importlib.import_module("datasketch")
        self._lsh = self._library.MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
        self._kept: dict[str, Any] = {}

    def prepare(self, article: Article) -> Any:  # noqa: ANN401 - each detector's own
        """Return the MinHash."""
        text = fold(article.body)
        made = self._library.MinHash(num_perm=PERMUTATIONS)
        runs = {text[at : at + _SHINGLE] for at in range(max(1, len(text) - _SHINGLE + 1))}
        made.update_batch([run.encode("utf-8", "replace") for run in runs])
        return made

    def see(self, article: Article, prepared: Any) -> str | None:  # noqa: ANN401 - each detector's own
        """Return the most similar candidate by estimate, from ``THRESHOLD``."""
        found = [(prepared.jaccard(self._kept[u]), u) for u in self._lsh.query(prepared)]
        best, url = max(found, default=(0.0, ""))
        if best >= THRESHOLD:
            return str(url)
        self._lsh.insert(article.url, prepared)
        self._kept[article.url] = prepared
        return None

    def bytes(self) -> float:
        """Return nan: the RAM is measured from outside."""
        return float("nan")


def _indexed(name: str) -> Detector:
    return Indexed(load_detector(name))


def detectors() -> dict[str, Callable[[], Detector]]:
    """Return the methods by name, the default first; MinHash only if datasketch is installed."""
    made: dict[str, Callable[[], Detector]] = {name: partial(_indexed, name) for name in NAMES}
    made["simhash"] = SimHash
    if find_spec("datasketch"):
        made["minhash-lsh"] = MinHash
    return made

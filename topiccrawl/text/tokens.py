"""Tokenization: one interface for two engines with the same dictionary.

Both engines use jieba's algorithm and dictionary (MIT). ``rjieba`` is the Rust implementation
(jieba-rs, MIT) and 15 to 20 times faster; ``jieba`` is the reference and the fallback. They segment
folded Chinese text equally, but split runs of Latin letters differently. Latin text is therefore
split here, by one rule for both.

Canonical words (``canonical``) are Chinese words of two or more characters, Latin words of two or
more letters in the singular, and numbers. Stop words, punctuation and single characters are
excluded, since single characters are nearly always fragments or function words; a single character
given by the user (茶) is kept. Only plurals of English are folded (S-stemmer of Harman 1991).
Folding ``-ing`` and ``-ed`` changed ranking by less than 0.001 average precision and merges words
with different meanings in news (building, build).
"""

from __future__ import annotations

import logging
import re
from functools import cache, cached_property, lru_cache
from importlib import import_module, resources
from importlib.util import find_spec
from itertools import chain, filterfalse, islice
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from topiccrawl.text.normal import fold, fold_all, has_han

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

K = TypeVar("K")
V = TypeVar("V")

_LATIN = re.compile(r"[^\W_]+")
_SHORTEST_PLURAL = 4

_CACHED_PIECES = 100_000
"""Most pieces with cached words, about 12 MB; above it the cache is cleared."""

_RECENT = 4_000
"""Most short texts with cached pieces, about 5 MB; link texts are used by several stages."""

_CACHED_SETS = 20_000
"""Most link texts with cached words, about 30 MB; above it the cache is cleared."""


class BatchCache(Generic[K, V]):
    """Cache of values of texts or of tuples of texts, computed in batches; cleared when it is full.

    Args:
        compute: Returns the values of distinct texts, in order.
        most: Most cached values.
    """

    def __init__(self, compute: Callable[[Sequence[K]], Iterable[V]], most: int) -> None:
        self._compute = compute
        self._most = most
        self._known: dict[K, V] = {}

    def __call__(self, texts: Sequence[K]) -> list[V]:
        """Return the value of each text; new texts are computed in one batch."""
        known = self._known
        if new := list(dict.fromkeys(filterfalse(known.__contains__, texts))):
            if len(known) + len(new) > self._most:
                self._known = known = {}  # another thread may be reading the full one
                new = list(dict.fromkeys(texts))
            known.update(zip(new, self._compute(new), strict=True))
        return list(map(known.__getitem__, texts))

    def clear(self) -> None:
        """Remove all values."""
        self._known = {}


class Cache(dict[K, V]):
    """Cache of values that are computed one by one; cleared when it is full.

    Args:
        compute: Returns the value of a key.
        most: Most cached values.
    """

    def __init__(self, compute: Callable[[K], V], most: int) -> None:
        super().__init__()
        self._compute = compute
        self._most = most

    def __missing__(self, key: K) -> V:
        if len(self) >= self._most:
            self.clear()
        value = self[key] = self._compute(key)
        return value


class _Engine(NamedTuple):
    cut: Callable[[str, bool], list[str]]
    add: Callable[[str], None]


def _load_rjieba() -> _Engine:
    """Load jieba-rs: 0.1 s; segments 10,000 characters in 1.2 ms."""
    jieba = import_module("rjieba").Jieba()
    return _Engine(jieba.cut, lambda word: jieba.add_word(word, None, None))


def _load_jieba() -> _Engine:
    """Load jieba: 0.7 s; segments 10,000 characters in 20 ms."""
    module = import_module("jieba")
    module.setLogLevel(logging.WARNING)
    jieba = module.Tokenizer()
    return _Engine(lambda text, hmm: jieba.lcut(text, HMM=hmm), jieba.add_word)


class Tokenizer:
    """Tokenizer with a dictionary and additional words; its engine is loaded on first use.

    Args:
        engine: ``rjieba`` or ``jieba``.
        words: Words that are not split, in addition to the dictionary.
        hmm: Whether to detect unknown words (mainly names) by a hidden Markov model. The engines
            agree in all words without it, and in more than 99.9 % with it.

    Attributes:
        added: Folded added words.
    """

    def __init__(
        self, engine: Literal["rjieba", "jieba"], words: Iterable[str] = (), *, hmm: bool = True
    ) -> None:
        self.name: str = engine
        self.hmm = hmm
        self.added: dict[str, None] = {}
        self._ignored = set(stop_words())  # and single characters, once they were found
        self._joined_words = Cache(self._join_words, _CACHED_PIECES)
        self._cuts = BatchCache(self._cut_runs, _RECENT)
        self._lines = BatchCache(fold_all, _RECENT)
        self._sets = BatchCache(self._word_sets, _CACHED_SETS)
        for word in words:
            self.add_word(word)

    def cut(self, text: str) -> list[str]:
        """Segment a folded text; the joined pieces are equal to the text.

        Lone surrogates become "?".
        """
        try:
            return self._engine.cut(text, self.hmm)
        except UnicodeEncodeError:
            return self._engine.cut(text.encode("utf-8", "replace").decode(), self.hmm)

    def words(self, text: str) -> list[str]:
        """Return the canonical words of a text that can be terms, in order.

        >>> tokenizer().words("新能源汽车的销量，Electric vehicles!")
        ['新能源', '汽车', '销量', 'electric', 'vehicle']
        """
        folded = fold(text)
        if not has_han(folded):
            return _canonical(latin_words(folded))
        return self._words_of(self.cut(folded))

    def word_sets(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Return the distinct ``words`` of each text in one pass; cached, for short texts only.

        >>> [sorted(words) for words in tokenizer().word_sets(["足球和足球", "Cup finals", ""])]
        [['足球'], ['cup', 'final'], []]
        """
        return self._sets(texts)

    def _word_sets(self, texts: Sequence[str]) -> list[frozenset[str]]:
        lines = self.lines(texts)
        return [
            frozenset(self._words_of(pieces) if has_han(line) else _canonical(pieces))
            for line, pieces in zip(lines, self.cut_all(lines), strict=True)
        ]

    def _words_of(self, pieces: Sequence[str]) -> list[str]:
        """Return the canonical words of pieces; in Chinese text, a piece is a word or has none."""
        words_of, ignored = self._joined_words.__getitem__, self._ignored
        words = list(filterfalse(ignored.__contains__, pieces))
        if 1 in map(len, words):  # single characters: new ones, and words
            new = {piece for piece in words if len(piece) == 1 and not words_of(piece)}
            words = list(filterfalse(new.__contains__, words))
            if len(ignored) < _CACHED_PIECES:
                ignored |= new
        joined = "".join(words)
        if joined.isalnum() and "s" not in joined:
            return words
        return " ".join(map(words_of, words)).split()

    def lines(self, texts: Sequence[str]) -> list[str]:
        """Return ``fold`` of each text in one pass; cached, for short texts only."""
        return self._lines(texts)

    def cut_all(self, lines: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each folded text in one pass; cached.

        Chinese text is segmented as by ``cut``, without blanks. Words do not cross blanks, so the
        text of a block reuses the cached pieces of its anchors. The pieces of a text without
        Chinese are its runs of letters and digits, which need no dictionary.

        >>> tokenizer().cut_all(["足球和nba 比赛", "cup finals, 2026"])
        [['足球', '和', 'nba', '比赛'], ['cup', 'finals', '2026']]
        """
        runs = [line.split(" ") if has_han(line) else () for line in lines]
        pieces = iter(self._cuts(list(chain.from_iterable(runs))))
        return [
            list(chain.from_iterable(islice(pieces, len(parts)))) if parts else latin_words(line)
            for line, parts in zip(lines, runs, strict=True)
        ]

    def _cut_runs(self, runs: Sequence[str]) -> list[list[str]]:
        """Segment texts in one call, separated by line breaks."""
        pieces = self.cut("\n".join([*runs, ""]))
        found, start = [], 0
        for _ in runs:
            end = pieces.index("\n", start)
            found.append(pieces[start:end])
            start = end + 1
        return found

    def _join_words(self, piece: str) -> str:
        """Return the canonical words of a piece, separated by blanks."""
        return piece if piece in self.added else " ".join(split(piece))

    def add_word(self, word: str) -> None:
        """Add a word that is not split."""
        folded = fold(word)
        if folded and folded not in self.added:
            self.added[folded] = None
            self._ignored.discard(folded)
            self._joined_words.pop(folded, None)
            self._cuts.clear()
            self._sets.clear()
            if "_engine" in vars(self):
                self._engine.add(folded)

    @cached_property
    def _engine(self) -> _Engine:
        engine = _load_rjieba() if self.name == "rjieba" else _load_jieba()
        for word in self.added:
            engine.add(word)
        return engine


def tokenizer(words: Iterable[str] = (), *, hmm: bool = True) -> Tokenizer:
    """Create a tokenizer with rjieba if installed, else with jieba.

    Args:
        words: Words that are not split, in addition to the dictionary.
        hmm: See ``Tokenizer``.

    >>> tokenizer(["区块链"]).words("区块链技术")
    ['区块链', '技术']
    """
    return Tokenizer("rjieba" if find_spec("rjieba") else "jieba", words, hmm=hmm)


@cache
def shared_tokenizer() -> Tokenizer:
    """Return the shared tokenizer of the process, with recent words of news; do not add words."""
    return tokenizer(words_of_file("words.txt"))


def latin_words(folded: str) -> list[str]:
    """Return the runs of letters and digits of a folded text without Chinese.

    >>> latin_words("electric-vehicles in 2026")
    ['electric', 'vehicles', 'in', '2026']
    """
    return _LATIN.findall(folded)


def split(piece: str) -> tuple[str, ...]:
    """Return the canonical words of a piece; a run of Latin text may have several.

    >>> split("electric-vehicles"), split("足球"), split("的"), split("，")
    (('electric', 'vehicle'), ('足球',), (), ())
    """
    if not piece.isalnum():
        return tuple(_canonical(latin_words(piece)))
    if piece in stop_words() or (len(piece) == 1 and not piece.isdigit()):
        return ()
    return (singular(piece) if piece[-1] == "s" else piece,)


def _canonical(words: Iterable[str]) -> list[str]:
    return list(filter(None, map(canonical, words)))


@lru_cache(maxsize=100_000)
def canonical(word: str) -> str:
    """Return the canonical form of a folded word; "" if it cannot be a term.

    >>> canonical("vehicles"), canonical("the"), canonical("球"), canonical("2026")
    ('vehicle', '', '', '2026')
    """
    return "".join(split(word))


def singular(word: str) -> str:
    """Return a Latin word without the plural ending of English; other words are unchanged.

    >>> [singular(w) for w in ("cities", "buses", "boxes", "glass", "news", "gas", "armées")]
    ['city', 'bus', 'box', 'glass', 'news', 'gas', 'armée']
    """
    if len(word) < _SHORTEST_PLURAL or word[-1] != "s" or word in _NO_PLURALS:
        return word
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST_PLURAL:
        return word[:-3] + "y"
    if word.endswith(("sses", "uses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


_NO_PLURALS = frozenset(
    ("news", "series", "species", "always", "perhaps", "lens", "mars", "texas", "paris", "wales")
)


def inflections(word: str) -> tuple[str, ...]:
    """Return the word and the forms with this word as ``singular``.

    >>> inflections("city"), inflections("bus"), inflections("news")
    (('city', 'citys', 'cities'), ('bus', 'buses'), ('news',))
    """
    guesses = (word, word + "s", word + "es", word[:-1] + "ies" if word.endswith("y") else word)
    return tuple(dict.fromkeys(form for form in guesses if singular(form) == word))


@cache
def stop_words() -> frozenset[str]:
    """Return the folded Chinese and English stop words (``stopwords/``)."""
    return frozenset((*words_of_file("stopwords/zh.txt"), *words_of_file("stopwords/en.txt")))


def words_of_file(name: str) -> list[str]:
    """Read a word list of this package; lines that begin with # are comments."""
    text = (resources.files("topiccrawl.text") / name).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [word for line in lines for word in line.split()]

"""Boilerplate: paragraphs that a site repeats in its articles, which must not count as shared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from topiccrawl.model import Article

REPEATS = 3
"""Different articles of a site that must hold a paragraph before it is boilerplate."""

HEAD = 4
"""Paragraphs checked from the top."""

TAIL = 6
"""Paragraphs checked from the end."""

COUNTED = 65_536
"""Paragraphs counted at once; above it, those counted only once are dropped."""

_NOT_COMPARED = re.compile(r"[\W\d_]+")
_POSITIVE = (1 << 63) - 1
"""Mask that keeps marks positive in the signed 64-bit integers of databases."""


class Boilerplate:
    r"""Boilerplate by site. Paragraphs are compared without figures, blanks and punctuation.

    Only stored articles are counted: the paragraphs of a reprint repeat its story, not its site.

    >>> from topiccrawl.model import Article
    >>> known = Boilerplate()
    >>> for text in ("今天有雨", "明天有风", "后天有雪"):
    ...     marks = known.learn(Article("u", "", f"{text}\n扫码关注我们", site="a.test"))
    >>> len(marks)
    1
    >>> known.strip(Article("u", "", "昨天有霜\n扫码关注我们", site="a.test"))
    '昨天有霜'
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._seen: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, article: Article) -> Sequence[int]:
        """Count an article's paragraphs; return the marks of those that became boilerplate."""
        new: list[int] = []
        for mark in set(_marks(article.site, _edges(article.body.split("\n")))) - self._known:
            count = self._seen[mark] = self._seen.get(mark, 0) + 1
            if count >= REPEATS:
                new.append(mark)
        self.know(new)
        if len(self._seen) > COUNTED:
            self._seen = {mark: count for mark, count in self._seen.items() if count > 1}
        if len(self._seen) > COUNTED:
            self._seen.clear()
        return new

    def know(self, marks: Iterable[int]) -> None:
        """Add marks of boilerplate."""
        for mark in marks:
            self._known.add(mark)
            self._seen.pop(mark, None)

    def strip(self, article: Article) -> str:
        """Return the body without boilerplate; the whole body if nothing else would be left."""
        if not self._known:
            return article.body
        lines = article.body.split("\n")
        head, tail = _bounds(len(lines))
        kept = [
            line
            for place, line in enumerate(lines)
            if head <= place < tail or _mark(article.site, line) not in self._known
        ]
        return "\n".join(kept) or article.body


def _bounds(count: int) -> tuple[int, int]:
    """Return the end of the head and the begin of the tail, as line numbers."""
    return min(HEAD, count), max(HEAD, count - TAIL)


def _edges(lines: Sequence[str]) -> Sequence[str]:
    head, tail = _bounds(len(lines))
    return [*lines[:head], *lines[tail:]]


def _marks(site: str, lines: Iterable[str]) -> Iterator[int]:
    return (_mark(site, line) for line in lines)


def _mark(site: str, line: str) -> int:
    text = f"{site} {_NOT_COMPARED.sub('', line)}"
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace")) & _POSITIVE

"""Detection of boilerplate: paragraphs that a site repeats in its articles."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.model import Article

MIN_ARTICLES = 3
"""Minimum number of articles of a site with the same paragraph for it to be boilerplate."""

HEAD = 4
"""Number of paragraphs checked at the top."""

TAIL = 6
"""Number of paragraphs checked at the end."""

MAX_COUNTED = 65_536
"""Maximum number of counted paragraphs; above it, those with count 1 are dropped."""

_NOT_COMPARED = re.compile(r"[\W\d_]+")
_POSITIVE = (1 << 63) - 1
"""Mask that keeps marks positive in the signed 64-bit integers of databases."""


class Boilerplate:
    r"""Boilerplate by site. Paragraphs are compared without digits, blanks and punctuation.

    Only stored articles are counted, since a reprint repeats the paragraphs of its story.

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
        self._marks: set[int] = set()
        self._counts: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self._marks)

    def learn(self, article: Article) -> Sequence[int]:
        """Count the paragraphs of an article; return the marks of new boilerplate."""
        lines = article.body.split("\n")
        head, tail = _bounds(len(lines))
        marks = {_mark(article.site, line) for line in (*lines[:head], *lines[tail:])} - self._marks
        self._counts.update(marks)
        new = [mark for mark in marks if self._counts[mark] >= MIN_ARTICLES]
        self.know(new)
        if len(self._counts) > MAX_COUNTED:
            self._counts = Counter({mark: n for mark, n in self._counts.items() if n > 1})
        if len(self._counts) > MAX_COUNTED:
            self._counts.clear()
        return new

    def know(self, marks: Iterable[int]) -> None:
        """Add marks of known boilerplate."""
        for mark in marks:
            self._marks.add(mark)
            self._counts.pop(mark, None)

    def strip(self, article: Article) -> str:
        """Return the body without boilerplate, or the whole body if it is only boilerplate."""
        if not self._marks:
            return article.body
        lines = article.body.split("\n")
        head, tail = _bounds(len(lines))
        kept = [
            line
            for place, line in enumerate(lines)
            if head <= place < tail or _mark(article.site, line) not in self._marks
        ]
        return "\n".join(kept) or article.body


def _bounds(count: int) -> tuple[int, int]:
    """Return the end of the head and the start of the tail, as line numbers."""
    return min(HEAD, count), max(HEAD, count - TAIL)


def _mark(site: str, line: str) -> int:
    text = f"{site} {_NOT_COMPARED.sub('', line)}"
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace")) & _POSITIVE

"""Published method: keywords at the same rank in titles, then in bodies [S4 3.1-3.5].

The ``N`` heaviest keywords of the title are sorted by weight. The similarity of two articles is the
number of keywords at the same rank; from a threshold on, the new one is a duplicate. If no title
reaches the threshold, bodies are compared in the same way (embodiment 2). Weights are TF-IDF. The
source does not give N and the thresholds; they were chosen here.

The source compares with every article. Here an index finds the same articles: if at least ``agree``
of ``taken`` ranks are equal, at most ``taken - agree`` differ, so that at least one of
``taken - agree + 1`` blocks of ranks is equal (pigeonhole principle). The blocks are the keys.
Exact ranks are brittle, since one changed word shifts all later ones. The method is therefore
available, but not the default.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from topiccrawl.dedup.contract import Match
from topiccrawl.text.idf import corpus_idf
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.model import Article


class RankCounts(NamedTuple):
    """Number of compared keywords, and threshold.

    Attributes:
        taken: N, the number of keywords.
        agree: Minimum number of keywords at the same rank of duplicates.
    """

    taken: int
    agree: int


TITLE = RankCounts(6, 4)
"""A headline has about six keywords."""

BODY = RankCounts(10, 6)

CACHE_SIZE = 4_096
"""Number of texts whose keywords are cached."""


class RankedKeywords:
    """Detector that compares ranked keywords [S4].

    Args:
        title: N and threshold of titles.
        body: N and threshold of bodies.

    >>> from topiccrawl.model import Article
    >>> one = Article("http://a.test/1", "新能源汽车一月销量增长，厂商扩大产能", "", digest="a")
    >>> two = Article("http://b.test/2", "厂商扩大产能：新能源汽车一月销量增长", "", digest="b")
    >>> RankedKeywords().judge(two, [one])
    Match(url='http://a.test/1', similarity=1.0, reason='ranked-title', follows=False)
    """

    name = "ranked-keywords"
    exact = True

    def __init__(self, title: RankCounts = TITLE, body: RankCounts = BODY) -> None:
        self.title = title
        self.body = body
        self.scheme = f"ranked-keywords/1 {tuple(title)} {tuple(body)}"

    def keys(self, article: Article) -> Sequence[int]:
        """Return the keys of the blocks of title and body."""
        title = keywords(article.title, self.title.taken)
        body = keywords(article.body, self.body.taken)
        return [*blocks("t", title, self.title), *blocks("b", body, self.body)]

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the article with most keywords at the same rank, by title, then by body."""
        candidates = list(known)
        for part, ranks in (("title", self.title), ("body", self.body)):
            mine = keywords(getattr(article, part), ranks.taken)
            like = [
                (count_agreeing(mine, keywords(getattr(one, part), ranks.taken)), one.url)
                for one in candidates
            ]
            most, url = max(like, key=lambda pair: pair[0], default=(0, ""))
            if most >= ranks.agree:
                return Match(url, most / max(1, len(mine)), f"ranked-{part}")
        return None

    def learn(self, article: Article) -> Sequence[int]:  # noqa: ARG002 - protocol
        """Return (): this method learns nothing."""
        return ()

    def know(self, marks: Iterable[int]) -> None:
        """Do nothing: this method learns nothing."""


@lru_cache(CACHE_SIZE)
def keywords(text: str, count: int) -> tuple[str, ...]:
    """Return the words of a text with the largest TF-IDF, in descending order, ties by word.

    >>> keywords("足球和篮球，足球", 2)
    ('足球', '篮球')
    """
    idf = corpus_idf()
    weights = {w: n * idf(w) for w, n in Counter(shared_tokenizer().words(text)).items()}
    return tuple(sorted(weights, key=lambda word: (-weights[word], word))[:count])


def count_agreeing(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of equal keywords at the same rank [S4 3.4].

    >>> count_agreeing(["甲", "乙", "丙"], ["甲", "丙", "乙"])
    1
    """
    return sum(mine == theirs for mine, theirs in zip(one, other, strict=False))


def blocks(kind: str, words: Sequence[str], ranks: RankCounts) -> list[int]:
    """Return keys of which articles that agree in enough ranks share at least one.

    >>> shared = set(blocks("t", list("甲乙丙丁戊己"), TITLE)) & set(
    ...     blocks("t", list("甲乙丙丁己戊"), TITLE))
    >>> len(shared)
    2
    """
    if len(words) < ranks.agree:
        return []
    count = ranks.taken - ranks.agree + 1
    bounds = [place * ranks.taken // count for place in range(count + 1)]
    parts = [(a, words[a:b]) for a, b in pairwise(bounds)]
    return [
        xxhash.xxh3_64_intdigest("\n".join((kind, str(at), *part)).encode("utf-8", "replace"))
        & 0xFFFFFFFF
        for at, part in parts
        if part
    ]

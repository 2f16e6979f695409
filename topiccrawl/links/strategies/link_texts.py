"""Scoring of link texts."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.links.strategies.contract import LinkScorer
    from topiccrawl.model import Link

MAX_BLOCK = 1_000
"""Most characters of a block's joined anchors that are scored."""

MAX_KEPT = 120
"""Most characters of a context stored with a queued URL for re-scoring. A block's text is cut to
them, so re-scoring only uses its beginning."""

_LONGEST = 20
_DIGITS = re.compile(r"\d+")
_INDEX = re.compile(r"(?:(?<=/)(?:index|default))?(?:\.[a-z]{3,5})?\Z")
_PAGING = re.compile(
    r"\W*(?:(?:第|page)?\s*\d{1,3}\s*页?|下一?页|后一?页|next(?: page)?|"
    r"older(?: posts| entries)?|[»›])\W*",
    re.IGNORECASE,
)


class LinkScores(NamedTuple):
    """Scores and context of one link.

    Attributes:
        anchor: Similarity of the anchor to the topic, in [0, 1].
        context: Similarity of the context (surrounding text or whole block), in [0, 1].
        text: Context, cut to :data:`MAX_KEPT`.
    """

    anchor: float
    context: float
    text: str


def block_texts(links: Sequence[Link]) -> dict[int, str]:
    """Return the expanded anchor text of each block: its caption and all anchors [S3 step 3].

    >>> from topiccrawl.model import Link
    >>> block_texts([Link("u", "one", "Sport", 0), Link("v", "two", "Sport", 0), Link("w", "x")])
    {0: 'Sport one two'}
    """
    parts: defaultdict[int, list[str]] = defaultdict(list)
    for link in links:
        if link.block >= 0:
            if link.context and link.context not in parts[link.block]:
                parts[link.block].append(link.context)
            parts[link.block].append(link.anchor)
    return {block: " ".join(filter(None, texts))[:MAX_BLOCK] for block, texts in parts.items()}


def score_links(links: Sequence[Link], scorer: LinkScorer) -> list[LinkScores]:
    """Score all links of a page in one batch; each distinct text is scored once.

    For a link in a block, the score of the block replaces the score of the surrounding text
    (section 2 of the project's methods).
    """
    blocks = block_texts(links)
    contexts = [blocks.get(link.block, link.context) for link in links]
    texts = list(dict.fromkeys([*(link.anchor for link in links), *contexts]))
    scores = dict(zip(texts, scorer.score_many(texts), strict=True))
    kept = {context: context[:MAX_KEPT] for context in contexts}  # one text for all of a block
    return [
        LinkScores(scores[link.anchor], scores[context], kept[context])
        for link, context in zip(links, contexts, strict=True)
    ]


@lru_cache(maxsize=20_000)  # each link is checked several times, and menus repeat
def is_paging(anchor: str) -> bool:
    """Return whether an anchor is a paging link to another page of the same list.

    >>> [is_paging(anchor) for anchor in ("12", "下一页 »", "Older posts", "Page 3", "Area 51", "")]
    [True, True, True, True, False, False]
    """
    return len(anchor) <= _LONGEST and _PAGING.fullmatch(anchor) is not None


def is_list(links: Sequence[Link]) -> bool:
    """Return whether a page with these links is a list: one with paging links."""
    return any(is_paging(link.anchor) for link in links)


def is_paged(url: str, links: Iterable[Link]) -> bool:
    """Return whether a paging link of a page leads to another page of the same list.

    Its URL continues that of the page, or has another number, or is the first page. This excludes
    pages with a calendar, and the chapters of a manual.

    >>> from topiccrawl.model import Link
    >>> links = [Link("http://a.test/c/", "1"), Link("http://a.test/c/page/3/", "3")]
    >>> [is_paged(f"http://a.test/{path}", links) for path in ("c/", "c/page/2/", "2026/x.html")]
    [True, True, False]
    >>> is_paged("http://a.test/1.html", [Link("http://a.test/2.html", "Next")])
    False
    """
    own = _list_of(url)
    paging = (link for link in links if link.url != url and is_paging(link.anchor))
    return any(_is_other_page(own, _list_of(link.url), link.anchor) for link in paging)


def _is_other_page(own: str, there: str, anchor: str) -> bool:
    number = _DIGITS.search(anchor)
    if number and number[0] == "1" and own.startswith(there):
        return True
    return there.startswith(own) and (number is not None or there != own)


def _list_of(url: str) -> str:
    """Return a URL without the values of numbers, the name of an index and the extension."""
    return _INDEX.sub("", _DIGITS.sub("0", url))


def listed_scores(
    links: Sequence[Link], scores: Sequence[LinkScores]
) -> tuple[float, float] | None:
    """Return the mean scores of anchor and context of the links that a list consists of.

    Of the regions of a list, the one with most anchor text holds its links: headlines are longer
    than the names in a menu.

    Args:
        links: Links of the page.
        scores: Score of each link.

    Returns:
        Both means, 0 if the list has no other links; None if the page is no list.

    >>> from topiccrawl.model import Link
    >>> page = [Link("u", "Home"), Link("v", "City council", regions=(1, 1, 1)), Link("w", "2")]
    >>> listed_scores(page, [LinkScores(0, 0, ""), LinkScores(0.5, 0.25, ""), LinkScores(0, 0, "")])
    (0.5, 0.25)
    """
    if not is_list(links):
        return None
    regions: defaultdict[tuple[int, int, int], list[tuple[int, LinkScores]]] = defaultdict(list)
    for link, score in zip(links, scores, strict=True):
        if not is_paging(link.anchor):
            regions[link.regions].append((len(link.anchor), score))
    if not regions:
        return 0.0, 0.0
    listed = max(regions.values(), key=lambda found: sum(length for length, _ in found))
    return fmean(score.anchor for _, score in listed), fmean(score.context for _, score in listed)

"""The body by density: the box whose text outweighs its links, then its lines without the frame.

Every block of a page speaks for a body as far as it is made of sentences, and against it where it
is a link, a scrap, or in a box that names itself a frame. The body is the smallest box that keeps
most of the page's weight, from its first heavy block to its last (maximum subsequence: Pasternack
& Roth 2009; text density with links and punctuation: Sun, Song & Liao 2011).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.scraps import is_byline, is_scrap, names_caption, names_frame, names_others

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.extract.blocks import Block, Box, Layout

KEPT = 0.7
"""Share of a box's weight that one box inside must have to stand for it."""

KEPT_LIST = 0.95
"""The same for a list: it hardly is a whole article."""

TWIN = 0.35
"""Share of a box's weight from which its namesake beside it is a part of the same text."""

LINKED = 0.4
"""Share of anchor text from which a block is a link."""

HEAVIEST = 300
"""Characters of a block that count: one long comment is no article."""

SENTENCE = 8
"""Characters of the shortest block that may speak for a body by its punctuation."""

LONG = 25
"""Characters from which a block without punctuation is no scrap."""

LINKED_TEXT = 50
"""Characters of a linked block that is text all the same, if it has two sentences: old pages
forget to close a link."""

SCRAP = -20.0
"""Weight of a line that belongs to the frame by what it says."""

ELSEWHERE = 80.0
"""Weight that is left of a page without comments and teasers, if they may outweigh the article."""

LINES = 4
"""Blocks from which a paragraph or cell is a box of its own: old pages write with <br>."""

CAPTION = 12
"""Blocks of a box of captions at most."""

_LISTS = frozenset(("ul", "ol", "dl"))
# fmt: off
_SMALL = frozenset((
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "td", "th", "dt", "dd", "font", "span",
    "blockquote", "figure", "figcaption",
))
# fmt: on


class Choice(NamedTuple):
    """What was chosen of a page.

    Attributes:
        blocks: Numbers of its blocks, page order.
        box: Number of the box that holds them.
        share: Their share of the page's positive weight, in [0, 1]: how sure the choice is.
        linked: Share of anchor text between the first and the last of them, in [0, 1].
    """

    blocks: tuple[int, ...]
    box: int = 0
    share: float = 0.0
    linked: float = 0.0


def choose(layout: Layout, *, captions: bool = True) -> Choice:
    """The body's blocks; none where nothing outweighs the links.

    Args:
        layout: A page.
        captions: Keep what stands under pictures.
    """
    if not layout.blocks:
        return Choice(())
    weights = _weights(layout)
    box = _descend(layout, weights)
    return _cut(layout, weights, box, captions=captions)


def choose_in(layout: Layout, *, captions: bool = True) -> Choice:
    """The body's blocks where the layout is known to be the article's own box."""
    if not layout.blocks:
        return Choice(())
    return _cut(layout, _weights(layout), 0, captions=captions)


def weigh(block: Block) -> float:
    """What a block speaks for a body: ``HEAVIEST`` at most, below 0 for links and scraps.

    >>> from topiccrawl.extract.blocks import Block
    >>> weigh(Block("", 0, "p", 100, 0.0, 4)), weigh(Block("", 0, "li", 12, 1.0, 0))
    (100.0, -17.0)
    """
    size = min(block.size, HEAVIEST)
    if block.linked >= LINKED:
        text = size >= LINKED_TEXT and block.stops > 1 and block.links == 1
        return size * 0.3 if text else -5.0 - min(size, 40)
    if is_scrap(block.text):
        return SCRAP
    if is_byline(block.text) and "。" not in block.text:
        return -4.0
    if block.stops and size >= SENTENCE:
        return size * (1 - 2 * block.linked) * min(1.0, 0.4 + 0.2 * block.stops)
    return size * 0.3 if size >= LONG else -4.0


def heaviest(weights: Sequence[float], begin: int, end: int) -> tuple[int, int]:
    """The stretch with the largest sum; empty where all weigh against it.

    >>> heaviest([-1.0, 3.0, -1.0, 4.0, -2.0], 0, 5)
    (1, 4)
    """
    best, stretch, total, start = 0.0, (begin, begin), 0.0, begin
    for number in range(begin, end):
        total += weights[number]
        if total > best:
            best, stretch = total, (start, number + 1)
        if total < 0:
            total, start = 0.0, number + 1
    return stretch


def _weights(layout: Layout) -> list[float]:
    """Weight of every block; what stands in a frame counts against the body."""
    weights = [weigh(block) for block in layout.blocks]
    total = _speaking(weights)
    for box in layout.boxes[1:]:
        if names_frame(box.tag, box.names) and _is_frame(layout, box, weights, total):
            for number in range(box.begin, box.end):
                weights[number] = -abs(weights[number]) / 2
    return weights


def _is_frame(layout: Layout, box: Box, weights: Sequence[float], total: float) -> bool:
    """Whether a box that is named like a frame is one: an article's box may be, too."""
    if any(block.tag == "h1" for block in layout.blocks[box.begin : box.end]):
        return False
    inside = _speaking(weights[box.begin : box.end])
    return inside < total / 2 or (names_others(box.names) and total - inside >= ELSEWHERE)


def _speaking(weights: Iterable[float]) -> float:
    return sum(weight for weight in weights if weight > 0)


def _descend(layout: Layout, weights: Sequence[float]) -> int:
    """The smallest box that keeps ``KEPT`` of the weight of every box around it."""
    values: dict[int, float] = {0: 0.0}
    inner: dict[int, list[int]] = {}
    for number, one in enumerate(layout.boxes):
        if one.end - one.begin >= (LINES if one.tag in _SMALL else 1):
            begin, end = heaviest(weights, one.begin, one.end)
            values[number] = sum(weights[begin:end])
            inner.setdefault(one.parent, []).append(number)
    box = 0
    while inside := inner.get(box):
        best = max(inside, key=values.__getitem__)
        kept = KEPT_LIST if layout.boxes[best].tag in _LISTS else KEPT
        if values[best] < kept * values[box] or _has_twin(layout, values, best, inside):
            break
        box = best
    return box


def _has_twin(layout: Layout, values: dict[int, float], best: int, inside: Sequence[int]) -> bool:
    """Whether a box beside one has its name and a good part of its weight: columns."""
    one = layout.boxes[best]
    return bool(one.names) and any(
        other != best
        and layout.boxes[other].names == one.names
        and values[other] >= TWIN * values[best]
        for other in inside
    )


def _cut(layout: Layout, weights: Sequence[float], box: int, *, captions: bool) -> Choice:
    """What of a box is the body: from its first heavy line to its last, without the frame."""
    bounds = layout.boxes[box].begin, layout.boxes[box].end
    first, last = _headed(layout.blocks, weights, heaviest(weights, *bounds))
    first, last = _grown(layout.blocks, (first, last), bounds)
    pictured = frozenset() if captions else _captions(layout)
    kept = tuple(
        number
        for number in range(first, last)
        if _stays(layout.blocks[number], weights[number]) and number not in pictured
    )
    total = _speaking(weights)
    share = _speaking(weights[number] for number in kept) / total if total else 0.0
    return Choice(kept, box, share, _linked(layout.blocks[first:last]))


def _headed(
    blocks: Sequence[Block], weights: Sequence[float], stretch: tuple[int, int]
) -> tuple[int, int]:
    """The stretch from its headline on, where most of it comes after."""
    first, last = stretch
    heads = [number for number in range(first, last) if blocks[number].tag == "h1"]
    if heads and sum(weights[heads[0] : last]) > sum(weights[first : heads[0]]):
        first = heads[0] + 1
    return first, last


def _linked(blocks: Sequence[Block]) -> float:
    """Share of anchor text; linked text (see ``LINKED_TEXT``) is none."""
    size = sum(block.size for block in blocks)
    linked = sum(block.size * block.linked for block in blocks if weigh(block) < 0)
    return linked / size if size else 0.0


def _grown(
    blocks: Sequence[Block], stretch: tuple[int, int], bounds: tuple[int, int]
) -> tuple[int, int]:
    """The stretch with the unlinked lines at its ends: captions, subheadings, signatures."""
    first, last = stretch
    if first == last:
        return stretch
    while first > bounds[0] and _belongs(blocks[first - 1]):
        first -= 1
    while last < bounds[1] and _belongs(blocks[last]):
        last += 1
    return first, last


def _belongs(block: Block) -> bool:
    return block.linked < LINKED and block.tag != "h1" and not is_byline(block.text)


def _stays(block: Block, weight: float) -> bool:
    return weight > 0 or (block.linked < LINKED and weight > SCRAP and block.tag != "h1")


def _captions(layout: Layout) -> frozenset[int]:
    return frozenset(
        number
        for box in layout.boxes[1:]
        if box.end - box.begin <= CAPTION and names_caption(box.tag, box.names)
        for number in range(box.begin, box.end)
    )

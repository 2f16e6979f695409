"""The body by density: the box whose text outweighs its links, then its lines without the frame.

Every block of a page has a weight: positive for sentences, negative for a link, a scrap, or a box
named like a frame. The body is the smallest box that keeps most of the page's weight, from its
first heavy block to its last (maximum subsequence: Pasternack & Roth 2009; text density with links
and punctuation: Sun, Song & Liao 2011).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.boilerplate import (
    is_boilerplate,
    is_boilerplate_box,
    is_byline,
    is_caption_box,
    is_secondary_box,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.extract.blocks import Block, Box, Layout

KEPT = 0.7
"""Share of a box's weight that an inner box must have to replace it."""

KEPT_LIST = 0.95
"""The same for a list, which is rarely a whole article."""

TWIN = 0.35
"""Share of a box's weight from which a sibling of the same name belongs to the same text."""

LINKED = 0.4
"""Share of anchor text from which a block is a link."""

HEAVIEST = 300
"""Characters of a block that count: one long comment is no article."""

SENTENCE = 8
"""Characters of the shortest block whose punctuation counts for a body."""

LONG = 25
"""Characters from which a block without punctuation is no scrap."""

LINKED_TEXT = 50
"""Characters from which a linked block with two sentences counts as text: old pages forget to
close a link."""

PROSE, PROSE_LINKED = 40, 0.75
"""Least size, and share of anchor text, of a paragraph of sentences with many links."""

BOILERPLATE = -20.0
"""Weight of a line that belongs to the frame by its words."""

ELSEWHERE = 80.0
"""Weight outside of comments and teasers from which they are frame, however heavy they are."""

LINES = 4
"""Blocks from which a paragraph or cell is a box of its own: old pages separate lines by <br>."""

CAPTION = 12
"""Most blocks of a box of captions."""

_LISTS = frozenset(("ul", "ol", "dl"))
# fmt: off
_SMALL = frozenset((
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "td", "th", "dt", "dd", "font", "span",
    "blockquote", "figure", "figcaption",
))
# fmt: on
_ENDED = re.compile(r"[.!?。！？…][\"”’»)\]]*$")


class Choice(NamedTuple):
    """The blocks chosen from a page.

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
    """Return the body's blocks; none if no text outweighs the links.

    Args:
        layout: A page.
        captions: Keep the captions of pictures.
    """
    if not layout.blocks:
        return Choice(())
    weights = _weights(layout)
    box = _descend(layout, weights)
    return _cut(layout, weights, box, captions=captions)


def choose_in(layout: Layout, *, captions: bool = True) -> Choice:
    """Return the body's blocks of a layout that is known to be the article's own box."""
    if not layout.blocks:
        return Choice(())
    return _cut(layout, _weights(layout), 0, captions=captions)


def weigh(block: Block) -> float:
    """Return a block's weight for a body: ``HEAVIEST`` at most, below 0 for links and scraps.

    >>> from topiccrawl.extract.blocks import Block
    >>> weigh(Block("", 0, "p", 100, 0.0, 4)), weigh(Block("", 0, "li", 12, 1.0, 0))
    (100.0, -17.0)
    """
    size = min(block.size, HEAVIEST)
    if block.linked >= LINKED:
        text = size >= LINKED_TEXT and block.stops > 1 and block.links == 1
        text |= block.tag == "p" and _is_prose(block)
        return size * 0.3 if text else -5.0 - min(size, 40)
    if is_boilerplate(block.text):
        return BOILERPLATE
    if is_byline(block.text) and "。" not in block.text:
        return -4.0
    if block.stops and size >= SENTENCE:
        return size * (1 - 2 * block.linked) * min(1.0, 0.4 + 0.2 * block.stops)
    return size * 0.3 if size >= LONG else -4.0


def heaviest(weights: Sequence[float], begin: int, end: int) -> tuple[int, int]:
    """Return the stretch with the largest sum; empty if no weight is positive.

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


def _is_prose(block: Block) -> bool:
    """Return whether a paragraph with many links is a sentence that names them."""
    written = block.size >= PROSE and block.linked < PROSE_LINKED
    return written and block.stops > 1 and bool(_ENDED.search(block.text))


def _weights(layout: Layout) -> list[float]:
    """Return the weight of every block; blocks in a frame count against the body."""
    weights = [weigh(block) for block in layout.blocks]
    total = _speaking(weights)
    for box in layout.boxes[1:]:
        if is_boilerplate_box(box.tag, box.names) and _is_frame(layout, box, weights, total):
            for number in range(box.begin, box.end):
                weights[number] = -abs(weights[number]) / 2
    return weights


def _is_frame(layout: Layout, box: Box, weights: Sequence[float], total: float) -> bool:
    """Return whether a box named like a frame is one; an article's box may have such a name."""
    if any(block.tag == "h1" for block in layout.blocks[box.begin : box.end]):
        return False
    inside = _speaking(weights[box.begin : box.end])
    return inside < total / 2 or (is_secondary_box(box.names) and total - inside >= ELSEWHERE)


def _speaking(weights: Iterable[float]) -> float:
    return sum(weight for weight in weights if weight > 0)


def _descend(layout: Layout, weights: Sequence[float]) -> int:
    """Return the smallest box that keeps ``KEPT`` of the weight of every box around it."""
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
    """Return whether a sibling has the same name and a good part of the weight: columns."""
    one = layout.boxes[best]
    return bool(one.names) and any(
        other != best
        and layout.boxes[other].names == one.names
        and values[other] >= TWIN * values[best]
        for other in inside
    )


def _cut(layout: Layout, weights: Sequence[float], box: int, *, captions: bool) -> Choice:
    """Choose the body in a box: from its first heavy line to its last, without the frame."""
    bounds = _with_openings(layout, weights, box)
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


def _with_openings(layout: Layout, weights: Sequence[float], box: int) -> tuple[int, int]:
    """Return the bounds of a box and the paragraphs right before it, which a paywall sets apart."""
    begin, end = layout.boxes[box].begin, layout.boxes[box].end
    around = layout.boxes[box].parent
    before = {
        one.end: one.begin
        for one in layout.boxes
        if one.tag == "p" and one.parent == around and one.end > one.begin
    }
    while box and begin in before and min(weights[before[begin] : begin], default=0) > 0:
        begin = before[begin]
    return begin, end


def _headed(
    blocks: Sequence[Block], weights: Sequence[float], stretch: tuple[int, int]
) -> tuple[int, int]:
    """Return the stretch after its headline, if most of the weight comes after it."""
    first, last = stretch
    heads = [number for number in range(first, last) if blocks[number].tag == "h1"]
    if heads and sum(weights[heads[0] : last]) > sum(weights[first : heads[0]]):
        first = heads[0] + 1
    return first, last


def _linked(blocks: Sequence[Block]) -> float:
    """Return the share of anchor text; linked text (see ``LINKED_TEXT``) does not count."""
    size = sum(block.size for block in blocks)
    linked = sum(block.size * block.linked for block in blocks if weigh(block) < 0)
    return linked / size if size else 0.0


def _grown(
    blocks: Sequence[Block], stretch: tuple[int, int], bounds: tuple[int, int]
) -> tuple[int, int]:
    """Extend the stretch by unlinked lines at its ends: captions, subheadings, signatures."""
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
    return weight > 0 or (block.linked < LINKED and weight > BOILERPLATE and block.tag != "h1")


def _captions(layout: Layout) -> frozenset[int]:
    return frozenset(
        number
        for box in layout.boxes[1:]
        if box.end - box.begin <= CAPTION and is_caption_box(box.tag, box.names)
        for number in range(box.begin, box.end)
    )

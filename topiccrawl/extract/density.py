"""Body extraction by text density: selection of a box, then of its lines without boilerplate.

Each block of a page has a weight: positive for sentences, negative for links, boilerplate lines and
boxes with boilerplate names. The body is the smallest box with most of the page's weight, limited
to the subsequence of blocks with the maximum sum (Pasternack & Roth 2009; text density with links
and punctuation: Sun, Song & Liao 2011).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.boilerplate import (
    is_boilerplate,
    is_caption_box,
    is_dated,
    is_footer,
    is_frame_box,
    is_side_box,
)
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from topiccrawl.extract.blocks import Block, Box, Layout

KEPT = 0.7
"""Minimum share of a box's weight in an inner box that replaces it."""

LINKED = 0.4
"""Share of anchor text from which a block counts as a link."""

MAX_WEIGHT = 300
"""Most characters of a block that count, since one long comment is no article."""

SENTENCE = 8
"""Minimum characters of a block whose punctuation counts."""

LONG = 25
"""Characters from which a block without punctuation counts as text."""

LINKED_TEXT = 50
"""Minimum characters of a linked block with two sentences that counts as text, for old pages with
unclosed links."""

PROSE, PROSE_LINKED = 40, 0.75
"""Minimum size and maximum share of anchor text of a paragraph of sentences with many links."""

BOILERPLATE = -20.0
"""Weight of a boilerplate line."""

OUTSIDE_WEIGHT = 80.0
"""Weight outside comments and teasers from which these always count as boilerplate."""

FOOTER = 300.0
"""Most weight of a box named as a footer that is one on a page without other text."""

LINES = 4
"""Minimum blocks of a paragraph or cell that is a box; old pages separate lines by <br>."""

NO_CAPTION = 100.0
"""Weight from which paragraphs are text of the article; captions have less."""

CAPTION = 12
"""Most blocks of a caption box."""

# fmt: off
_SMALL = frozenset((
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "td", "th", "dt", "dd", "font", "span",
    "blockquote", "figure", "figcaption",
))
# fmt: on
_HEADINGS = frozenset(("h2", "h3", "h4", "h5", "h6"))
_MARK = re.compile("[。！？；!?…]")


class Choice(NamedTuple):
    """Blocks selected as the body of a page.

    Attributes:
        blocks: Numbers of the blocks, in page order.
        box: Number of the box that contains them.
        share: Share of the page's positive weight, in [0, 1]; a measure of confidence.
        linked: Share of anchor text between the first and the last block, in [0, 1].
    """

    blocks: tuple[int, ...]
    box: int = 0
    share: float = 0.0
    linked: float = 0.0


def choose(layout: Layout, *, captions: bool = True, boxed: bool = False) -> Choice:
    """Select the blocks of the body; none if no text outweighs the links.

    Args:
        layout: Layout of a page.
        captions: Whether to keep captions of images.
        boxed: Whether the layout is that of the article's box only.
    """
    if not layout.blocks:
        return Choice(())
    own = [weigh(block) for block in layout.blocks]
    weights = _without_frames(layout, own)
    is_text = list(map(_is_text, layout.blocks, weights, own))
    box = 0 if boxed else _descend(layout, weights)
    first, last = _range(layout, weights, is_text, box)
    captioned = frozenset() if captions else _captions(layout, weights, first, last)
    kept = tuple(n for n in range(first, last) if is_text[n] and n not in captioned)
    total = _positive(weights)
    share = _positive(weights[number] for number in kept) / total if total else 0.0
    return Choice(kept, box, share, _linked(layout.blocks[first:last], own[first:last]))


def weigh(block: Block) -> float:
    """Return the weight of a block: at most ``MAX_WEIGHT``, negative for links and boilerplate.

    >>> from topiccrawl.extract.blocks import Block
    >>> weigh(Block("", 0, "p", 100, 0.0, 4)), weigh(Block("", 0, "li", 12, 1.0, 0))
    (100.0, -17.0)
    """
    size = min(block.size, MAX_WEIGHT)
    if block.linked >= LINKED:
        text = size >= LINKED_TEXT and block.links == 1
        text |= block.tag == "p" and _is_prose(block)
        return size * 0.3 if text and block.stops > 1 else -5.0 - min(size, 40)
    if is_boilerplate(block.text):
        return BOILERPLATE
    if "。" not in block.text and is_dated(block.text):
        return -4.0
    if block.stops and size >= SENTENCE:
        return size * (1 - 2 * block.linked) * min(1.0, 0.4 + 0.2 * block.stops)
    return size * 0.3 if size >= LONG else -4.0


def max_range(weights: Sequence[float], begin: int, end: int) -> tuple[int, int]:
    """Return the range with the largest sum; empty if no weight is positive.

    >>> max_range([-1.0, 3.0, -1.0, 4.0, -2.0], 0, 5)
    (1, 4)
    """
    best, span, total, start = 0.0, (begin, begin), 0.0, begin
    for number in range(begin, end):
        total += weights[number]
        if total > best:
            best, span = total, (start, number + 1)
        if total < 0:
            total, start = 0.0, number + 1
    return span


def _is_prose(block: Block) -> bool:
    """Return whether a paragraph with many links is text; sentences in Chinese need a mark."""
    if block.size < PROSE or block.linked >= PROSE_LINKED:
        return False
    return not has_han(block.text) or bool(_MARK.search(block.text))


def _without_frames(layout: Layout, own: Sequence[float]) -> list[float]:
    """Return the weights of all blocks; blocks in boilerplate boxes get negative weights."""
    weights = list(own)
    total = _positive(weights)
    for box in _boxes_of_kind(layout.boxes[1:], is_frame_box):
        if _is_frame(layout, box, weights, total):
            for number in range(box.begin, box.end):
                weights[number] = -abs(weights[number]) / 2
    return weights


def _is_frame(layout: Layout, box: Box, weights: Sequence[float], total: float) -> bool:
    """Return whether a box with a boilerplate name is boilerplate and not the article's box."""
    if box.begin <= _headline(layout.blocks) < box.end:
        return False
    inside = _positive(weights[box.begin : box.end])
    if inside < total / 2 or (inside <= FOOTER and is_footer(box.tag, box.names)):
        return True
    return is_side_box(box.names) and total - inside >= OUTSIDE_WEIGHT


def _positive(weights: Iterable[float]) -> float:
    return sum(weight for weight in weights if weight > 0)


def _descend(layout: Layout, weights: Sequence[float]) -> int:
    """Return the smallest box with at least ``KEPT`` of the weight of each enclosing box."""
    inner: dict[int, list[int]] = {}
    for number, one in enumerate(layout.boxes):
        if one.end - one.begin >= (LINES if one.tag in _SMALL else 1):
            inner.setdefault(one.parent, []).append(number)
    box, value = 0, _value(layout.boxes[0], weights)
    while inside := inner.get(box):
        values = {number: _value(layout.boxes[number], weights) for number in inside}
        best = max(inside, key=values.__getitem__)
        if values[best] < KEPT * value:
            break
        box, value = best, values[best]
    return box


def _value(box: Box, weights: Sequence[float]) -> float:
    """Return the largest weight of a range in a box."""
    begin, end = max_range(weights, box.begin, box.end)
    return sum(weights[begin:end])


def _range(
    layout: Layout, weights: Sequence[float], is_text: Sequence[bool], box: int
) -> tuple[int, int]:
    """Return the range of the body in a box."""
    bounds = _with_openings(layout, weights, box)
    span = _after_headline(layout.blocks, weights, max_range(weights, *bounds))
    return _extend(layout.blocks, is_text, span, bounds)


def _with_openings(layout: Layout, weights: Sequence[float], box: int) -> tuple[int, int]:
    """Return the range of a box and preceding paragraphs, which paywalls, ads or links separate.

    Those of another box than the surrounding one must be below the h1, or the heading next to the
    box if there is none; above it are slogans and requests for consent. Those above other lines
    must outweigh them and be no captions.
    """
    begin, end, parent = layout.boxes[box].begin, layout.boxes[box].end, layout.boxes[box].parent
    beside = {
        number
        for one in layout.boxes
        if one.tag == "p" and one.parent == parent
        for number in range(one.begin, one.end)
    }
    head = _headline(layout.blocks)
    if head < 0:
        above = ((n, layout.blocks[n]) for n in range(begin - 1, -1, -1))
        heads = (n for n, one in above if one.tag in _HEADINGS and one.linked < LINKED)
        head = next(heads, -1)
    needed = total = 0.0
    for number in range(begin - 1, -1, -1) if box else ():
        below = layout.blocks[number].tag == "p" and 0 <= head < number
        if weights[number] > 0 and (below or number in beside):
            total += weights[number]
            if total > needed:
                needed, begin = total, number
        else:
            total -= abs(weights[number])
            needed = max(needed, total + NO_CAPTION)
    return begin, end


def _after_headline(
    blocks: Sequence[Block], weights: Sequence[float], span: tuple[int, int]
) -> tuple[int, int]:
    """Return the range after its headline, if most of the weight follows the headline."""
    first, last = span
    head = _headline(blocks)
    if first <= head < last and sum(weights[head:last]) > sum(weights[first:head]):
        first = head + 1
    return first, last


def _headline(blocks: Sequence[Block]) -> int:
    """Return the number of the first h1 that is no link, or -1."""
    heads = (n for n, one in enumerate(blocks) if one.tag == "h1" and one.linked < LINKED)
    return next(heads, -1)


def _linked(blocks: Sequence[Block], weights: Sequence[float]) -> float:
    """Return the share of anchor text, without linked text (see ``LINKED_TEXT``)."""
    size = sum(block.size for block in blocks)
    pairs = zip(blocks, weights, strict=True)
    linked = sum(block.size * block.linked for block, weight in pairs if weight < 0)
    return linked / size if size else 0.0


def _extend(
    blocks: Sequence[Block], is_text: Sequence[bool], span: tuple[int, int], bounds: tuple[int, int]
) -> tuple[int, int]:
    """Extend the range by unlinked lines at both ends: captions, openings, signatures."""
    first, last = span
    if first == last:
        return span
    while first > bounds[0] and is_text[first - 1] and not is_dated(blocks[first - 1].text):
        first -= 1
    while last < bounds[1] and is_text[last] and not is_dated(blocks[last].text):
        last += 1
    heading = blocks[last - 1].tag in _HEADINGS and blocks[last - 1].size < LONG
    return first, last - heading  # of the links that follow, such as "Related"


def _is_text(block: Block, weight: float, own: float) -> bool:
    """Return whether a block within a body belongs to it; ``own`` is its weight outside frames."""
    plain = block.linked < LINKED and block.tag != "h1"
    return weight > 0 or (plain and weight == own > BOILERPLATE)


def _captions(layout: Layout, weights: Sequence[float], first: int, last: int) -> frozenset[int]:
    """Return the numbers of the blocks in caption boxes; none has most of the text of the range.

    Blogs name the box of an article for its author, too (``entry-author-jane``).
    """
    most = max(NO_CAPTION, _positive(weights[first:last]) / 2)
    return frozenset(
        number
        for box in _boxes_of_kind(layout.boxes[1:], is_caption_box)
        if box.end - box.begin <= CAPTION and _positive(weights[box.begin : box.end]) <= most
        for number in range(box.begin, box.end)
    )


def _boxes_of_kind(boxes: Iterable[Box], is_kind: Callable[[str, str], bool]) -> Iterator[Box]:
    """Yield the boxes with text whose tag and names are of a kind; names repeat on a page."""
    filled = [box for box in boxes if box.begin < box.end]
    kinds = {(box.tag, box.names) for box in filled}
    wanted = {kind for kind in kinds if is_kind(*kind)}
    return (box for box in filled if (box.tag, box.names) in wanted)

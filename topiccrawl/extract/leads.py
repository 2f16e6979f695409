"""Corrections of a body: adding the lead above its box, removing repeated labels."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.extract.blocks import Layout

MIN_LETTERS = 40
"""Minimum letters of a lead."""

PREFIX = 60
"""Leading letters in which a lead and a description must agree."""

MAX_DISTANCE = 40
"""Most blocks between a lead and the body."""

LINKED = 0.2
"""Largest share of anchor text in a lead."""

MIN_REPEATS = 3
"""Occurrences in a body from which a label is boilerplate."""

MAX_LABEL_LENGTH = 40
"""Most characters of a label."""

MAX_LABELS = 2
"""Most distinct repeated labels; more are the labels of a table and are kept."""

SPEAKER = (":", "：")
"""Ends of lines with the name of a speaker, which interviews repeat."""

_BARE = frozenset(("div", "figure", "figcaption", "section", "aside", "article", "main", ""))
"""Parent elements of labels; lines in paragraphs, headings and cells are text."""


def with_lead(text: str, layout: Layout, stated: Sequence[str]) -> str:
    """Prepend the lead: a paragraph above the body that matches a description in the metadata.

    Args:
        text: Text of the body.
        layout: Layout of the page.
        stated: Descriptions in the metadata.
    """
    known = [one for one in map(fold, stated) if len(one) >= MIN_LETTERS]
    first = text.partition("\n")[0]
    begin = next((n for n, one in enumerate(layout.blocks) if one.text == first), 0)
    for block in reversed(layout.blocks[max(0, begin - MAX_DISTANCE) : begin] if known else ()):
        if block.tag == "h1":
            break
        letters = fold(block.text) if block.tag == "p" and block.linked <= LINKED else ""
        if len(letters) >= MIN_LETTERS and any(_same_prefix(letters, one) for one in known):
            return text if letters[:PREFIX] in fold(text) else f"{block.text}\n{text}"
    return text


def _same_prefix(one: str, other: str) -> bool:
    size = min(len(one), len(other), PREFIX)
    return one[:size] == other[:size]


def without_labels(text: str, layout: Layout) -> str:
    """Remove repeated short lines outside paragraphs, such as "Advertisement"."""
    lines = text.split("\n")
    times = Counter(
        line for line in lines if len(line) <= MAX_LABEL_LENGTH and line[-1:] not in SPEAKER
    )
    often = {line for line, number in times.items() if number >= MIN_REPEATS}
    if not often:
        return text
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for block in layout.blocks:
        tags[block.text].add(block.tag)
    labels = {line for line in often if tags[line] and tags[line] <= _BARE}
    if len(labels) > MAX_LABELS:
        return text
    return "\n".join(line for line in lines if line not in labels)

"""Repair of a body: the lead above its box is added, a label that it repeats is left out."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.extract.blocks import Layout

SHORTEST = 40
"""Letters of the shortest lead."""

ALIKE = 60
"""Letters at their beginning in which a lead and a description agree."""

FAR = 40
"""Blocks between a lead and the body, at most."""

LINKED = 0.2
"""Largest share of anchor text in a lead."""

TIMES = 3
"""Occurrences of a label in a body from which it is frame."""

LABEL = 40
"""Characters of the longest label."""

LABELS = 2
"""Most labels that are frame; where more are repeated, they are those of a table."""

SPEAKER = (":", "：")
"""Ends of a line that names who speaks; an interview repeats it."""

_BARE = frozenset(("div", "figure", "figcaption", "section", "aside", "article", "main", ""))
"""Elements around a label of the frame; paragraphs, headings and cells are text."""


def with_lead(text: str, layout: Layout, stated: Sequence[str]) -> str:
    """Return a body with the paragraph above it with which the metadata describe the article.

    Args:
        text: The body.
        layout: Its page.
        stated: Descriptions of the metadata.
    """
    known = [one for one in map(fold, stated) if len(one) >= SHORTEST]
    first = text.partition("\n")[0]
    begin = next((n for n, one in enumerate(layout.blocks) if one.text == first), 0)
    for block in reversed(layout.blocks[max(0, begin - FAR) : begin] if known else ()):
        if block.tag == "h1":
            break
        letters = fold(block.text) if block.tag == "p" and block.linked <= LINKED else ""
        if len(letters) >= SHORTEST and any(_alike(letters, one) for one in known):
            return text if letters[:ALIKE] in fold(text) else f"{block.text}\n{text}"
    return text


def _alike(one: str, other: str) -> bool:
    size = min(len(one), len(other), ALIKE)
    return one[:size] == other[:size]


def without_labels(text: str, layout: Layout) -> str:
    """Return a body without a short line outside of paragraphs that it repeats: Advertisement."""
    lines = text.split("\n")
    times = Counter(line for line in lines if len(line) <= LABEL and line[-1:] not in SPEAKER)
    often = {line for line, number in times.items() if number >= TIMES}
    if not often:
        return text
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for block in layout.blocks:
        tags[block.text].add(block.tag)
    labels = {line for line in often if tags[line] and tags[line] <= _BARE}
    if len(labels) > LABELS:
        return text
    return "\n".join(line for line in lines if line not in labels)

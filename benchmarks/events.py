"""Quality of events: ``python -m benchmarks.events FOLDER [--topics odd|even|all] [--json]``.

FOLDER: the ECB+ corpus (Cybulska and Vossen 2014, CC BY 3.0): its folders of topics with XML files.
982 English articles on 43 topics, two events each of one kind (two earthquakes), several
write-ups an event. They arrive one by one in random order, without dates, which the corpus lacks.

``pairs_*``: pairs of articles of the same event. ``b3_*``: B-cubed, the mean over articles
of the shares of its group and of its event that agree. The threshold was chosen on odd topics.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from lxml import etree

from benchmarks.output import command_line, show
from topiccrawl.addons.events.pipeline import Events
from topiccrawl.model import Article

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WINDOW = 7


def articles(folder: Path, rest: int | None) -> Iterator[tuple[Article, str]]:
    """Yield articles with their events; topics whose number modulo 2 is ``rest``, None for all."""
    for path in sorted(folder.glob("*/*.xml")):
        if rest is not None and int(path.parent.name) % 2 != rest:
            continue
        lines: defaultdict[int, list[str]] = defaultdict(list)
        for token in etree.parse(path).iter("token"):
            lines[int(token.get("sentence"))].append(token.text or "")
        plus = "plus" in path.name
        text = [" ".join(lines[number]) for number in sorted(lines)][plus:]  # the first is its URL
        yield (
            Article(f"http://ecb.test/{path.stem}", text[0], "\n".join(text[1:])),
            f"{path.parent.name}{'plus' if plus else ''}",
        )


def figures(true: Sequence[str], said: Sequence[str]) -> dict[str, float]:
    """Precision, recall and F of pairs and of B-cubed.

    >>> figures("aab", "xyy")["pairs_recall"], figures("aab", "xxy")["b3_f"]
    (0.0, 1.0)
    """
    both, ours, theirs = Counter(zip(true, said, strict=True)), Counter(said), Counter(true)
    agreed = _pairs(both)
    cubed = [
        (both[t, s] / ours[s], both[t, s] / theirs[t]) for t, s in zip(true, said, strict=True)
    ]
    measured = {
        "pairs": (agreed / max(1, _pairs(ours)), agreed / max(1, _pairs(theirs))),
        "b3": (sum(p for p, _ in cubed) / len(cubed), sum(r for _, r in cubed) / len(cubed)),
    }
    found: dict[str, float] = {}
    for name, (precision, recall) in measured.items():
        found[f"{name}_precision"] = round(precision, 4)
        found[f"{name}_recall"] = round(recall, 4)
        found[f"{name}_f"] = round(2 * precision * recall / max(1e-9, precision + recall), 4)
    return found | {"events": len(theirs), "groups": len(ours)}


def _pairs(counts: Counter[object] | Counter[str] | Counter[tuple[str, str]]) -> int:
    return sum(count * (count - 1) // 2 for count in counts.values())


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = command_line(__doc__, seed=1)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--topics", choices=["odd", "even", "all"], default="even")
    options = parser.parse_args(arguments)
    rest = {"odd": 1, "even": 0, "all": None}[options.topics]
    known = list(articles(options.folder, rest))
    if not known:
        sys.exit(f"{options.folder}: no ECB+ there: folders of topics with .xml files")
    random.Random(options.seed).shuffle(known)  # noqa: S311
    events, begin = Events(WINDOW), time.process_time()
    said = [events.add(article) for article, _ in known]
    spent = (time.process_time() - begin) * 1000 / len(known)
    found = figures([event for _, event in known], said) | {"ms_an_article": spent}
    show(found, options.json)


if __name__ == "__main__":
    main()

"""Article share of a page: its own text against the text of the pages that it lists.

A hub is made of headlines: links whose text is as long as a title, each the name of a page with
``ANNOUNCED`` times as much text or more. A page's own text is compared with the text that its
headlines announce. Menus have short links and do not count; an article with some related stories
below it has far more text of its own. Words, URL and other pages are not used, so nothing has to
be learnt. Over the four collections of ``benchmarks.judge`` the mean average precision of relevance
times this share is the same to .01 for values of ``ANNOUNCED`` from 5 to 20.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from topiccrawl.model import Page, PageKind, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


ANNOUNCED = 5
"""Characters of text on the listed page for each character of its headline."""

HEADLINE = 8
"""Least Chinese characters of a headline; a Latin word counts for two."""

FEWEST = 3
"""Least headlines of a hub."""

LEADS = 0.2
"""Least share of a hub's headlines that name the topic."""

READABLE = 0.5
"""Article share from which a page is something to read and no hub."""

_LATIN = 2
_UNITS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]|[^\\W_\u3400-\u4dbf\u4e00-\u9fff]+")


def own_share(page: Page) -> float:
    """Return the share of a page's own text in that and the announced text, in [0, 1].

    1.0 for a page without headlines, whatever its length.

    >>> from topiccrawl.model import Link, Page
    >>> own_share(Page("http://a.test/", "", "Some text", prose="Some text"))
    1.0
    >>> headline = Link("http://a.test/1", "City council votes on the budget", block=0)
    >>> own_share(Page("http://a.test/", "", "", (headline,), prose="More"))
    0.02...
    """
    announced = in_prose = 0
    for link in page.links:
        if units(link.anchor) >= HEADLINE:
            length = len(link.anchor)
            announced += length
            in_prose += length if link.block < 0 else 0
    if not announced:
        return 1.0
    own = max(0, len(page.prose) - in_prose)
    return own / (own + ANNOUNCED * announced)


def leads(page: Page, score: Callable[[Sequence[str]], list[float]]) -> bool:
    """Return whether a page is a hub of the topic: its title or ``LEADS`` of its headlines name it.

    A front page names each topic of its site in a few headlines, and is none.

    Args:
        page: The page.
        score: Returns the similarity of each text to the topic (``LinkScorer.score_many``).
    """
    headlines = [link.anchor for link in page.links if units(link.anchor) >= HEADLINE]
    if len(headlines) < FEWEST:
        return False
    title, *found = (one > 0 for one in score([page.title, *headlines]))
    return title or sum(found) >= LEADS * len(headlines)


def kind_of(
    page: Page,
    verdict: Verdict,
    found: bool | None,  # noqa: FBT001  (three answers)
    score: Callable[[Sequence[str]], list[float]],
) -> PageKind:
    """Return the kind of a page.

    Args:
        page: The page.
        verdict: Its relevance and article share.
        found: Whether it has an article; None if none was looked for: a text to read is one then.
        score: As of ``leads``.
    """
    if found:
        return PageKind.ARTICLE
    if not verdict.relevant:
        return PageKind.OTHER
    if page.feed or verdict.article < READABLE:
        return PageKind.HUB if leads(page, score) else PageKind.OTHER
    return PageKind.ARTICLE if found is None else PageKind.OTHER


@lru_cache(maxsize=20_000)  # a page is judged more than once, and menus repeat
def units(text: str) -> int:
    """Return a text's length in Chinese characters; a run of other letters or digits counts two.

    >>> units("5G 手机"), units("City council votes")
    (4, 6)
    """
    return sum(1 if len(m) == 1 and m > "\u33ff" else _LATIN for m in _UNITS.findall(text))

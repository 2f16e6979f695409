"""Article share of a page: its own text compared with the text of the pages that it lists.

A hub consists of headlines: links with the length of a title, each leading to a page with at least
``ANNOUNCED`` times as much text. The page's own text is compared with this announced text. Menus
have short links and do not count. An article with related stories has far more text of its own.
Words, URL and other pages are not used, so nothing has to be learned. Over the four collections of
``benchmarks.judge`` the mean average precision of relevance times article share varies by at most
0.01 for values of ``ANNOUNCED`` from 5 to 20.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from topiccrawl.model import Page, PageKind, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.model import Link

ANNOUNCED = 5
"""Assumed characters of text on a listed page per character of its headline."""

HEADLINE = 8
"""Fewest Chinese characters of a headline; a Latin word counts as two."""

MIN_HEADLINES = 3
"""Fewest headlines of a hub."""

MIN_NAMED_SHARE = 0.2
"""Smallest share of a hub's headlines that contain topic terms."""

READABLE = 0.5
"""Article share from which a page is no hub."""

_LATIN = 2
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_UNITS = re.compile(f"[{_HAN}]|[^\\W_{_HAN}]+")
_SURE = re.compile(
    f"(?:[^{_HAN}]*+[{_HAN}]){{{HEADLINE}}}"
    f"|(?:[\\W_{_HAN}]*+[^\\W_\u3400-\U0010ffff]++){{{HEADLINE // _LATIN}}}"
)
"""Begin of a headline with enough Chinese characters or Latin words alone, as most have."""


def own_share(page: Page) -> float:
    """Return the article share: own text / (own text + announced text), in [0, 1].

    A page without headlines has 1.0, whatever its length.

    >>> from topiccrawl.model import Link, Page
    >>> own_share(Page("http://a.test/", "", "Some text", prose="Some text"))
    1.0
    >>> headline = Link("http://a.test/1", "City council votes on the budget", block=0)
    >>> own_share(Page("http://a.test/", "", "", (headline,), prose="More"))
    0.02...
    """
    announced, in_prose = _announced(page.links)
    if not announced:
        return 1.0
    own = max(0, len(page.prose) - in_prose)
    return own / (own + ANNOUNCED * announced)


_last: list[tuple[Sequence[Link], tuple[int, int]]] = [((), (0, 0))]
"""Links of the last page with their result: a page is scored for all topics in a row."""


def _announced(links: Sequence[Link]) -> tuple[int, int]:
    """Count the characters of headlines, and of those in prose."""
    known, found = _last[0]
    if known is not links:
        headlines = [link for link in links if is_headline(link.anchor)]
        in_prose = sum(len(link.anchor) for link in headlines if link.block < 0)
        found = sum(len(link.anchor) for link in headlines), in_prose
        _last[0] = links, found
    return found


def is_topic_hub(page: Page, score: Callable[[Sequence[str]], list[float]]) -> bool:
    """Return whether the title or a share ``MIN_NAMED_SHARE`` of the headlines contain topic terms.

    Front pages are excluded, since they name each topic of the site in a few headlines only.

    Args:
        page: The page.
        score: Function that returns the similarity of each text (``LinkScorer.score_many``).
    """
    headlines = [link.anchor for link in page.links if is_headline(link.anchor)]
    if len(headlines) < MIN_HEADLINES:
        return False
    title, *found = (one > 0 for one in score([page.title, *headlines]))
    return title or sum(found) >= MIN_NAMED_SHARE * len(headlines)


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
        found: Whether an article was extracted; None if extraction was skipped, and the article
            share decides.
        score: See ``is_topic_hub``.
    """
    if found:
        return PageKind.ARTICLE
    if not verdict.relevant:
        return PageKind.OTHER
    if page.feed or verdict.article < READABLE:
        return PageKind.HUB if is_topic_hub(page, score) else PageKind.OTHER
    return PageKind.ARTICLE if found is None else PageKind.OTHER


@lru_cache(maxsize=20_000)  # pages are scored more than once, and menus repeat
def is_headline(text: str) -> bool:
    """Return whether a text has the length of a headline.

    >>> [is_headline(text) for text in ("5G 手机", "City council votes", "Council votes on cuts")]
    [False, False, True]
    """
    return _SURE.match(text) is not None or _units(text) >= HEADLINE


def _units(text: str) -> int:
    """Return the length in Chinese characters; another run of letters or digits counts two.

    >>> _units("5G 手机"), _units("City council votes")
    (4, 6)
    """
    return sum(1 if len(m) == 1 and m > "\u33ff" else _LATIN for m in _UNITS.findall(text))

"""The frozen values that travel between rooms.

Links come by the ten thousand a second, so they are named tuples; everything is immutable.
Scores lie in [0, 1]; times are seconds since the epoch (UTC); texts are Unicode.
"""

from __future__ import annotations

from typing import NamedTuple

Evidence = tuple[float, ...]
"""What is known of one URL, as numbers; a strategy says what each position means."""


class Link(NamedTuple):
    """One out-link of a fetched page, as found: nothing of it is judged yet.

    Attributes:
        url: Absolute, canonical, without fragment.
        anchor: Visible text of the anchor (``title`` or an image's ``alt`` where it has none).
        context: Text around the anchor, without it; the block's other anchors are not in it.
        block: Number of the link block (list, table, navigation bar) in the page, from 0;
            -1 for a link in running text.
    """

    url: str
    anchor: str = ""
    context: str = ""
    block: int = -1


class Directives(NamedTuple):
    """What the page's owner asks for: meta robots and X-Robots-Tag, joined."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False


class Page(NamedTuple):
    """A fetched HTML page, read once.

    Attributes:
        url: Where it was fetched.
        title: Text of ``<title>``, blanks folded; empty where there is none.
        text: Visible text of the whole page, blanks folded.
        links: Followable out-links, once each (first place, longest anchor), page order.
        canonical: Absolute URL of ``<link rel=canonical>``, or None.
        directives: What the owner asks for.
        prose: The text without the anchors of link blocks: what the page says itself.
        feed: Whether it is a feed or a sitemap.
    """

    url: str
    title: str
    text: str
    links: tuple[Link, ...] = ()
    canonical: str | None = None
    directives: Directives = Directives()
    prose: str = ""
    feed: bool = False


class Verdict(NamedTuple):
    """How much a page is on topic.

    Attributes:
        relevance: Cosine of page and topic, in [0, 1].
        relevant: Whether relevance reaches the lower limit.
        terms: The topic terms found, each with its share of the score, heaviest first.
        article: How far the page is something to read, not a list of headlines, in [0, 1].
    """

    relevance: float
    relevant: bool
    terms: tuple[tuple[str, float], ...] = ()
    article: float = 1.0

    @property
    def harvest(self) -> float:
        """How far the page itself is wanted, in [0, 1]: on topic, and something to read.

        Relevance alone orders links: a hub that leads to such pages is worth a visit, and is none.
        """
        return self.relevance * self.article


class Offer(NamedTuple):
    """What one page says of one link: the scored link that enters the frontier.

    Attributes:
        url: Canonical URL.
        lane: 0 priorQueue, 1 normalQueue, 2 errorQueue (predicted below minNormal).
        evidence: Numbers for the strategy's ``fold``.
        anchor: Anchor text, kept so that a changed topic can score the URL anew.
        context: Context text, kept for the same reason.
    """

    url: str
    lane: int
    evidence: Evidence
    anchor: str = ""
    context: str = ""


class Findings(NamedTuple):
    """What a callback yields once per page for the frontier: the page's relevance and its links.

    Attributes:
        relevance: The page's relevance in [0, 1].
        offers: Its scored links.
        worth: What it counts for its host and directory, in [0, 1]; its relevance where None.
        relevant: Whether the page is on topic.
        lists: Whether the page is made to list what is new: a feed.
    """

    relevance: float
    offers: tuple[Offer, ...] = ()
    worth: float | None = None
    relevant: bool = False
    lists: bool = False

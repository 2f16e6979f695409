"""Stored articles grouped by news event."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.model import Article


class NewsEvent(NamedTuple):
    """News event and its stored articles.

    Attributes:
        event: URL of the first article about the event.
        articles: Articles about the event, oldest first.
    """

    event: str
    articles: Sequence[Article]

    @property
    def sites(self) -> int:
        """Number of different hosts."""
        return len({article.site for article in self.articles})

    @property
    def title(self) -> str:
        """Headline of the first article."""
        return self.articles[0].title

    @property
    def days(self) -> tuple[str, str]:
        """First and last day of publication, "" if unknown."""
        known = sorted(article.published[:10] for article in self.articles if article.published)
        return (known[0], known[-1]) if known else ("", "")


def group_by_event(articles: Iterable[Article]) -> list[NewsEvent]:
    """Group articles by event, of which there are at least two; the largest events come first.

    Args:
        articles: Articles, last stored first; articles without an event are skipped.

    >>> from topiccrawl.model import Article
    >>> found = [Article(f"http://{n}.test/", n, "", site=n, event="http://a.test/") for n in "ba"]
    >>> [(one.title, one.sites) for one in group_by_event(found)]
    [('a', 2)]
    """
    groups: dict[str, list[Article]] = {}
    for article in articles:
        if article.event:
            groups.setdefault(article.event, []).append(article)
    found = [NewsEvent(event, group[::-1]) for event, group in groups.items()]
    return sorted(
        (one for one in found if len(one.articles) > 1),
        key=lambda one: (-len(one.articles), one.event),
    )

"""Articles as a web feed: Atom (RFC 4287) or RSS 2.0."""

from __future__ import annotations

from dataclasses import replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING

from topiccrawl.storage.formats import Writer, template, xml_text

if TYPE_CHECKING:
    from typing import TextIO

    from topiccrawl.model import Article

SUMMARY = 300
"""Maximum number of characters of the text in an entry."""


def atom(file: TextIO) -> Writer[Article]:
    """Return a writer of an Atom feed with one entry per story; reprints have no entries.

    The id of an entry is the URL of its article, so that feed readers show each article once. The
    summary is omitted if the page forbids copies.
    """
    return _feed(file, "templates/atom.xml")


def rss(file: TextIO) -> Writer[Article]:
    """Return a writer of an RSS 2.0 feed, for readers without Atom; one item per story."""
    return _feed(file, "templates/rss.xml")


def _feed(file: TextIO, name: str) -> Writer[Article]:
    """Return a writer that collects articles and writes the feed at the end."""
    articles: list[Article] = []

    def write(article: Article) -> None:
        text = "" if article.noarchive else article.body[:SUMMARY]
        articles.append(replace(article, body=text))

    def end() -> None:
        topics = dict.fromkeys(topic for article in articles for topic in article.topics)
        feed = template("topiccrawl.storage", name).render(
            name=" · ".join(topics) or "topiccrawl",
            articles=articles,
            updated=max((article.fetched_at for article in articles), default=0.0),
            utc=_utc, with_zone=with_zone, mail_date=format_datetime,
        )  # fmt: skip
        file.write(f"{xml_text(feed)}\n")

    return Writer(write, end)


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_zone(text: str) -> datetime | None:
    """Return an ISO 8601 time in its zone (default UTC), a date as midnight, other text as None.

    The first and the last year of the calendar count as other text: zones reach beyond them.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    if not MINYEAR < at.year < MAXYEAR:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)

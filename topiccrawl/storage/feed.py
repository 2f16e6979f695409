"""Articles as a web feed: Atom (RFC 4287) or RSS 2.0."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, tostring

from topiccrawl.storage.formats import Writer, xml_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from topiccrawl.model import Article

NAMESPACE = "http://www.w3.org/2005/Atom"
SUMMARY = 300
"""Maximum number of characters of the text in an entry."""


def atom(file: TextIO) -> Writer[Article]:
    """Return a writer of an Atom feed with one entry per story; reprints have no entries.

    The id of an entry is the URL of its article, so that feed readers show each article once. The
    summary is omitted if the page forbids copies.
    """
    return _feed(file, entry, _atom)


def rss(file: TextIO) -> Writer[Article]:
    """Return a writer of an RSS 2.0 feed, for readers without Atom; one item per story."""
    return _feed(file, _item, _rss)


def _feed(
    file: TextIO,
    make_entry: Callable[[Article], Element],
    make_feed: Callable[[str, Sequence[Element]], Element],
) -> Writer[Article]:
    """Return a writer that collects entries and writes the feed at the end."""
    entries: list[Element] = []
    topics: dict[str, None] = {}

    def write(article: Article) -> None:
        topics.update(dict.fromkeys(article.topics))
        entries.append(make_entry(article))

    def end() -> None:
        text = tostring(make_feed(" · ".join(topics) or "topiccrawl", entries), encoding="unicode")
        file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')

    return Writer(write, end)


def _atom(name: str, entries: Sequence[Element]) -> Element:
    feed = Element("feed", xmlns=NAMESPACE)
    times = [one.findtext("updated", "") for one in entries]
    updated = max(times, default=_time(0.0))
    _add(feed, title=name, id=f"urn:topiccrawl:{name}", updated=updated)
    feed.extend(entries)
    return feed


def _rss(name: str, items: Sequence[Element]) -> Element:
    feed = Element("rss", version="2.0")
    channel = SubElement(feed, "channel")
    link = items[0].findtext("link", "") if items else ""
    _add(channel, title=name, link=link, description=f"Articles about {name}")
    channel.extend(items)
    return feed


def _item(article: Article) -> Element:
    element = Element("item")
    _add(element, title=article.title, link=article.url, guid=article.url)
    if (published := with_zone(article.published)) is not None:
        _add(element, pubDate=format_datetime(published))
    for topic in article.topics:
        _add(element, category=topic)
    if article.body and not article.noarchive:
        _add(element, description=article.body[:SUMMARY])
    return element


def entry(article: Article) -> Element:
    """Return the entry of an article.

    >>> from topiccrawl.model import Article
    >>> made = entry(Article("http://a.test/1", "题", "文", published="2026-01-31T08:00:00+08:00"))
    >>> made.findtext("published"), made.findtext("updated")
    ('2026-01-31T08:00:00+08:00', '1970-01-01T00:00:00Z')
    """
    element = Element("entry")
    _add(element, title=article.title, id=article.url)
    SubElement(element, "link", href=xml_text(article.url))
    _add(element, updated=_time(article.fetched_at))
    if (published := with_zone(article.published)) is not None:
        _add(element, published=published.isoformat())
    author = article.author or article.source or article.site or article.url
    _add(SubElement(element, "author"), name=author)
    for topic in article.topics:
        SubElement(element, "category", term=xml_text(topic))
    if article.body and not article.noarchive:
        _add(element, summary=article.body[:SUMMARY])
    return element


def _add(parent: Element, **texts: str) -> None:
    """Add elements with texts."""
    for name, text in texts.items():
        SubElement(parent, name).text = xml_text(text)


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_zone(text: str) -> datetime | None:
    """Return an ISO 8601 time in its zone (default UTC), a date as midnight, other text as None."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)

"""Articles as a feed, Atom (RFC 4287) or RSS 2.0, for people who watch a topic."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, tostring

if TYPE_CHECKING:
    from typing import TextIO

    from topiccrawl.model import Article

NAMESPACE = "http://www.w3.org/2005/Atom"
SUMMARY = 300
"""Maximum number of characters of the text in an entry."""

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Atom:
    """Writer of a feed; each story is one entry, since reprints are no articles of the store.

    An entry's id is its article's URL and stays the same, so that readers show each once. Its text
    is left out if its page refuses copies.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._entries: list[Element] = []
        self._updated = 0.0
        self._topics: dict[str, None] = {}

    def write(self, article: Article) -> None:
        """Add an entry."""
        self._updated = max(self._updated, article.fetched_at)
        self._topics.update(dict.fromkeys(article.topics))
        self._entries.append(entry(article))

    def end(self) -> None:
        """Write the feed."""
        feed = Element("feed", xmlns=NAMESPACE)
        name = " · ".join(self._topics) or "topiccrawl"
        _add(feed, "title", name)
        _add(feed, "id", f"urn:topiccrawl:{name}")
        _add(feed, "updated", _time(self._updated))
        feed.extend(self._entries)
        text = tostring(feed, encoding="unicode")
        self._file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


class Rss:
    """Writer of an RSS 2.0 feed, for readers that know no Atom; one item for each story."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._items: list[Element] = []
        self._topics: dict[str, None] = {}

    def write(self, article: Article) -> None:
        """Add an item."""
        self._topics.update(dict.fromkeys(article.topics))
        made = Element("item")
        _add(made, "title", article.title)
        _add(made, "link", article.url)
        _add(made, "guid", article.url)
        if published := _zoned(article.published):
            _add(made, "pubDate", format_datetime(datetime.fromisoformat(published)))
        for topic in article.topics:
            _add(made, "category", topic)
        if article.body and not article.noarchive:
            _add(made, "description", article.body[:SUMMARY])
        self._items.append(made)

    def end(self) -> None:
        """Write the feed."""
        feed = Element("rss", version="2.0")
        channel = SubElement(feed, "channel")
        name = " · ".join(self._topics) or "topiccrawl"
        _add(channel, "title", name)
        _add(channel, "link", self._items[0].findtext("link") or "" if self._items else "")
        _add(channel, "description", f"Articles about {name}")
        channel.extend(self._items)
        text = tostring(feed, encoding="unicode")
        self._file.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


def entry(article: Article) -> Element:
    """Return the entry of an article.

    >>> from topiccrawl.model import Article
    >>> made = entry(Article("http://a.test/1", "题", "文", published="2026-01-31T08:00:00+08:00"))
    >>> made.findtext("published"), made.findtext("updated")
    ('2026-01-31T08:00:00+08:00', '1970-01-01T00:00:00Z')
    """
    made = Element("entry")
    _add(made, "title", article.title)
    _add(made, "id", article.url)
    SubElement(made, "link", href=_clean(article.url))
    _add(made, "updated", _time(article.fetched_at))
    if published := _zoned(article.published):
        _add(made, "published", published)
    author = SubElement(made, "author")
    _add(author, "name", article.author or article.source or article.site or article.url)
    for topic in article.topics:
        SubElement(made, "category", term=_clean(topic))
    if article.body and not article.noarchive:
        _add(made, "summary", article.body[:SUMMARY])
    return made


def _add(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = _clean(text)


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _zoned(published: str) -> str:
    """Return a time with a zone (default UTC); a day becomes its midnight, no time becomes ""."""
    try:
        at = datetime.fromisoformat(published)
    except ValueError:
        return ""
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()

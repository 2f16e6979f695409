"""Selection of stored articles by topic, site, date and words, and grouping by news event."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.links.hosts import normalize_host
from topiccrawl.links.urls import canonical
from topiccrawl.messages import message
from topiccrawl.text.normal import clean, fold, has_han
from topiccrawl.text.tokens import shared_tokenizer, stop_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.model import Article

WORDS = 2_000
"""Maximum number of distinct words indexed per article; a long feature has 1,500."""

COMPOUND = 3
"""Minimum length of a Chinese word also found by its first or last two characters."""

_RUN = re.compile(r"[^\W_]+")


class Selection(NamedTuple):
    """Conditions on articles, all of which must match.

    Attributes:
        topic: Name of a topic of the article; "" for any.
        site: Host of the article, or a parent domain; "" for any.
        since: First date of publication, such as ``2026-01-31``; "" for any.
        until: Last date of publication; "" for any. Either excludes articles without a date.
        words: Words of the article, and parts of its text, as returned by ``words_in``.
        stored_since: Earliest time of the last write: of the article, or of a topic that a reprint
            added; seconds since the epoch. Articles of earlier versions have the time of the fetch.
    """

    topic: str = ""
    site: str = ""
    since: str = ""
    until: str = ""
    words: tuple[str, ...] = ()
    stored_since: float = 0.0

    @property
    def before(self) -> str:
        """The date after ``until``, an exclusive upper bound; "" for any.

        >>> Selection(until="2026-02-28").before
        '2026-03-01'
        """
        return str(date.fromisoformat(self.until) + timedelta(days=1)) if self.until else ""

    @property
    def indexed(self) -> tuple[str, ...]:
        """The words that an index of ``words_of`` has.

        >>> Selection(words=words_in("茶 电池")).indexed
        ('电池',)
        """
        return tuple(filter(shared_tokenizer().words, self.words))

    def has_parts(self, title: str, body: str) -> bool:
        """Return whether a text contains all words that no index has."""
        parts = set(self.words).difference(self.indexed)
        text = fold(f"{title}\n{body}") if parts else ""
        return all(part in text for part in parts)

    @property
    def dated(self) -> bool:
        """True if a first or last date is set."""
        return bool(self.since or self.until)


ALL = Selection()
"""Every article."""


def day(text: str, what: str) -> str:
    """Return a date given by the user; "" for none.

    Raises:
        ConfigurationError: It is not a date.

    >>> day("2026-01-31", "--since")
    '2026-01-31'
    """
    failed = message("{what} {text!r} is not a date: write it as 2026-01-31")
    with translated(ConfigurationError, failed, (ValueError,), what=what, text=text):
        return str(date.fromisoformat(text)) if text else ""


def site_in(text: str) -> str:
    """Return a host given by the user; "" for all.

    Raises:
        ConfigurationError: It is not a host.

    >>> site_in("News.a.test."), site_in("")
    ('news.a.test', '')
    """
    host = normalize_host(text)
    if text and not host:
        raise ConfigurationError(
            "--site {text!r} is not a host: write it as news.example.com", text=text
        )
    return host


def names_in(text: str) -> tuple[str, ...]:
    """Return the names to forget: a URL, as given and in canonical form, or ``site:HOST``.

    Raises:
        ConfigurationError: It is neither a URL nor ``site:HOST``.

    >>> names_in("http://a.test/1"), names_in("site:新闻.test"), names_in("HTTP://a.test")
    (('http://a.test/1',), ('site:xn--efvy88h.test',), ('HTTP://a.test', 'http://a.test/'))
    """
    host = normalize_host(text.removeprefix("site:")) if text.startswith("site:") else ""
    if host:
        return (f"site:{host}",)
    url = canonical(text)
    if url is None:
        raise ConfigurationError(
            "{text!r} is neither a URL nor a site: write https://host/path, or site:host", text=text
        )
    return tuple(dict.fromkeys((text, url)))


def words_in(query: str) -> tuple[str, ...]:
    """Return the distinct words of a search query.

    Chinese without a word of the tokenizer, such as 茶 or A股, is returned folded and without
    punctuation: any part of a text may match it.

    Raises:
        ConfigurationError: The query has no words.

    >>> words_in("电池的 回收"), words_in("A股 我们"), words_in("“茶”、酒")
    (('电池', '回收'), ('a股',), ('茶', '酒'))
    """
    found: dict[str, None] = {}
    for term in map(fold, query.split()):
        parts = (one for one in _RUN.findall(term) if has_han(one) and one not in stop_words())
        found |= dict.fromkeys(shared_tokenizer().words(term) or parts)
    words = tuple(found)
    if not words:
        raise ConfigurationError(
            "{query!r} has no searchable word: give a longer query", query=query
        )
    return words


def words_of(title: str, body: str) -> list[str]:
    """Return the distinct words of an article for the index, in order of code points.

    >>> words_of("电动汽车", "销量")
    ['汽车', '电动', '电动汽车', '销量']
    """
    found = set(shared_tokenizer().words(f"{title}\n{body}"))
    return sorted(found.union(_parts(found)))[:WORDS]


def _parts(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        if len(word) >= COMPOUND and has_han(word):
            yield from (word[:2], word[-2:])


def site_names(host: str) -> list[str]:
    """Return the names by which a host can be forgotten: the host and its parent domains.

    >>> site_names("news.a.test")
    ['site:news.a.test', 'site:a.test', 'site:test']
    """
    labels = host.split(".")
    return [f"site:{'.'.join(labels[at:])}" for at in range(len(labels))]


def names_of(article: Article) -> list[str]:
    """Return all names by which an article can be forgotten."""
    urls = (article.url, article.final_url, article.canonical_url)
    stored = {clean(url) for url in urls if url}
    return [*sorted(stored), *site_names(clean(article.site))]


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

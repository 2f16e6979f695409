"""Machine-readable metadata of a page: JSON-LD, OpenGraph, meta elements, microdata."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.extract.bylines import joined, without_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from selectolax.lexbor import LexborHTMLParser

ARTICLE_TYPES = re.compile(r"(?:Article|BlogPosting|ReportageNews)$")
"""schema.org types of articles."""

DATES = (
    "article:published_time", "og:published_time", "og:article:published_time", "publishdate",
    "pubdate", "publish_date", "published_time", "publish-date", "publish_time", "_pubtime",
    "apub:time", "article:create_at", "weibo:article:create_at", "weibo: article:create_at",
    "og:release_date", "bytedance:published_time", "datepublished", "parsely-pub-date",
    "sailthru.date", "dc.date.issued", "dc.date", "dcterms.created", "date", "og:time",
)  # fmt: skip
"""Names of meta elements with the time of publication, most trusted first."""

_DATED = re.compile(r"publi(?:sh|cation).*(?:date|time)|(?:date|time).*publi(?:sh|cation)")
"""Other names of such meta elements."""

_DATES = (
    "[itemprop=datePublished], time[pubdate], time[datetime], abbr.published[title], "
    '[property$=":datePublished"], [property$=":dateCreated"]'
)

TITLES = ("og:title", "twitter:title", "articletitle", "headline", "dc.title")
SOURCES = ("mediaid", "source", "contentsource", "article:source", "og:source", "news_source")
AUTHORS = ("author", "article:author", "og:article:author", "byl", "dc.creator", "parsely-author")
LONGEST_NAME = 80
LANGUAGES = ("content-language", "og:locale")
LEADS = ("og:description", "description", "twitter:description")
IMAGES = ("og:image", "twitter:image")

_NAMES = ("property", "name", "itemprop", "http-equiv")

_LENIENT = json.JSONDecoder(strict=False)  # line breaks inside strings are common


_PUBLISHED = re.compile(r'"datePublished"\s*:\s*"([^"]+)"')


class Metadata(NamedTuple):
    """Metadata of a page; "" for missing values.

    Attributes:
        titles: Headlines in JSON-LD, and in meta elements, most trusted first, with site names.
        dates: Times of publication as written, most trusted first.
        source: Source (来源) in a meta element.
        publisher: Name of the site or publisher.
        author: Names, separated by blanks or commas.
        images: Image URLs as written.
        article: Whether the page is marked as an article.
        language: Language and country in a meta element.
        types: schema.org types of JSON-LD objects and ``og:type``, in lower case.
        leads: Descriptions of the article.
    """

    titles: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    dates: tuple[str, ...] = ()
    source: str = ""
    publisher: str = ""
    author: str = ""
    images: tuple[str, ...] = ()
    article: bool = False
    language: str = ""
    types: frozenset[str] = frozenset()
    leads: tuple[str, ...] = ()


def read_metadata(tree: LexborHTMLParser) -> Metadata:
    """Read the metadata of a parsed page; of invalid JSON-LD only the date of publication."""
    meta = meta_elements(tree)
    objects = list(linked_data(tree))
    linked = [one for one in objects if any(map(ARTICLE_TYPES.search, kinds_of([one])))]
    names, publishers = _names(linked, "author"), _names(linked, "publisher")
    return Metadata(
        titles=(tuple(_texts(linked, "headline")), tuple(_of(meta, TITLES))),
        dates=_distinct(
            text[:LONGEST_DATE]
            for text in [
                *_texts(linked, "datePublished"),
                *_of(meta, DATES),
                *_of(meta, filter(_DATED.search, meta)),
                *_microdata(tree),
                *_texts(objects, "datePublished"),
            ]
        ),
        source=next(iter(_of(meta, SOURCES)), ""),
        publisher=next(iter([*_of(meta, ("og:site_name",)), *publishers]), ""),
        author=joined(_distinct(map(without_by, names))) or _person(_of(meta, AUTHORS)),
        images=_distinct([*map(str.strip, _parts(linked, "image", "url")), *_of(meta, IMAGES)]),
        article=bool(linked) or meta.get("og:type", "").lower() in ("article", "news"),
        language=next(iter(_of(meta, LANGUAGES)), ""),
        types=frozenset([meta.get("og:type", "").lower(), *map(str.lower, kinds_of(objects))]),
        leads=_distinct([*_texts(linked, "description"), *_of(meta, LEADS)]),
    )


_NAMED = re.compile(r"(?!.*(?:://|\S@\S+\.\S))(?=.*[^\W\d_])", re.DOTALL)
"""A text with a letter that is no URL or e-mail address."""

LONGEST_DATE = 200
"""Most characters of a date in metadata."""


def meta_elements(tree: LexborHTMLParser) -> dict[str, str]:
    """Return the content of meta elements by lower-case name; the first element wins."""
    found: dict[str, str] = {}
    for element in tree.css("meta[content]"):
        values = element.attributes
        name = next(filter(None, map(values.get, _NAMES)), "")
        content = " ".join((values.get("content") or "").split())
        if name and content:
            found.setdefault(name.strip().lower(), content)
    return found


def _of(meta: Mapping[str, str], names: Iterable[str]) -> list[str]:
    return [meta[name] for name in names if name in meta]


def _person(authors: list[str]) -> str:
    """Return the first author that is a name and no URL, e-mail address or number."""
    named = (name for name in authors if len(name) <= LONGEST_NAME and _NAMED.match(name))
    return without_by(next(named, ""))


def _microdata(tree: LexborHTMLParser) -> Iterator[str]:
    for element in tree.css(_DATES):
        values = element.attributes
        stated = (values.get(name) for name in ("content", "datetime", "title"))
        yield next(filter(None, stated), "") or element.text(strip=True)


def linked_data(
    tree: LexborHTMLParser, fields: Sequence[str] = ("mainEntity", "@graph")
) -> Iterator[dict[str, Any]]:
    """Yield the objects of all JSON-LD blocks, including those in lists and in some fields.

    Of invalid JSON, an object with the date of publication.
    """
    for element in tree.css('script[type="application/ld+json"]'):
        text = element.text().strip().rstrip(";")
        try:
            yield from _objects(_LENIENT.decode(text), fields)
        except (ValueError, RecursionError):
            yield from ({"datePublished": one} for one in _PUBLISHED.findall(text))


def _objects(value: object, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, list):
            stack += reversed(one)
        elif isinstance(one, dict):
            yield one
            stack += [one[key] for key in fields if key in one]


def kinds_of(objects: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the schema.org types of objects; an object may have several."""
    for kinds in (one.get("@type") for one in objects):
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if isinstance(kind, str):
                yield kind


def _texts(objects: Iterable[Mapping[str, Any]], key: str) -> Iterator[str]:
    for one in objects:
        value = one.get(key)
        if isinstance(value, str) and value.strip():
            yield " ".join(_encodable(value).split())


def _parts(objects: Iterable[Mapping[str, Any]], key: str, name: str) -> Iterator[str]:
    """Yield texts of a field: a text, an object with the text as ``name``, or a list of them."""
    for value in (one.get(key) for one in objects):
        for part in value if isinstance(value, list) else [value]:
            text = part.get(name) if isinstance(part, dict) else part
            if isinstance(text, str):
                yield _encodable(text)


def _names(objects: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    """Return the names of persons or organisations in a field."""
    return [" ".join(text.split()) for text in _parts(objects, key, "name") if _NAMED.match(text)]


def _encodable(text: str) -> str:
    """Return a text of JSON without lone surrogates, which are halves of cut emoji."""
    return text.encode("utf-8", "ignore").decode()


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, values)))

"""HTTP API of stored articles: search with facets, single articles, exports, feeds and marks.

``static/openapi.json`` describes the routes. Only the route of marks changes data.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections import Counter
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from aiohttp import web

from topiccrawl.addons.dashboard.channel import json_response, page_in
from topiccrawl.addons.dashboard.merge import overview
from topiccrawl.commands.marking import WANTED, mark, uncertain_pages
from topiccrawl.errors import ConfigurationError, StateError
from topiccrawl.links.urls import canonical
from topiccrawl.messages import NameList
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.formats import BINARY, encoding_of
from topiccrawl.storage.runs import to_json
from topiccrawl.storage.selection import Selection, day, group_by_event, site_in, words_in
from topiccrawl.storage.sites import MarkStore
from topiccrawl.storage.tables import (
    SUMMARY,
    ExportFilter,
    Table,
    displayed_values,
    export_articles,
    id_of,
    score_of,
    with_zone,
)
from topiccrawl.topics.topic import Topic, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.settings import Settings

    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore

    Facets = dict[str, Sequence[tuple[Any, ...]]]

COUNTED = 2_000
"""Number of last stored articles in which facets are counted."""
FACET_VALUES = 12
"""Number of values shown of a facet, the most frequent ones."""
MAX_EXPORTED = 20_000
"""Maximum number of articles in one export, those stored last; the command has no limit."""
FEED_ENTRIES = 50
"""Maximum number of articles in a feed, those stored last."""
MAX_MARKS, MAX_CHARS = 5_000, 2_000
"""Number of marks of a topic from which no more are accepted over HTTP; length of their fields."""
_MARK_BODY = 'the body must be {"topic": ..., "url": ..., "wanted": "yes|no|none"}'
MAX_DOUBTFUL = 30
"""Maximum number of listed pages near the relevance limit."""
_BRIEF = ("url", "title", "site", "published", "fetched_at", "source", "author", "language")
_TYPES = {
    ".jsonl": "application/x-ndjson", ".csv": "text/csv", ".html": "text/html",
    ".md": "text/markdown", ".atom": "application/atom+xml", ".rss": "application/rss+xml",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}  # fmt: skip


class Library:
    """Handles requests for the stored articles of all crawls of the data folder.

    Args:
        settings: Settings of the stores.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._storage = storage_of(settings)
        self._runs = frontiers_of(settings).runs()
        self._store: ArticleStore | None = None

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [
            web.get("/api/crawls", self._crawls),
            web.get("/api/library", self._search),
            web.get("/api/article", self._article),
            web.get("/api/export/{name}", self._export),
            web.get("/feed/{topic}.atom", self._atom),
            web.get("/feed/{topic}.json", self._json_feed),
            web.get("/api/doubtful", self._doubtful),
            web.post("/api/marks", self._mark),
            web.get("/api/openapi.json", _openapi),
        ]

    async def close(self) -> None:
        """Close the stores."""
        await self._runs.close()
        if self._store is not None:
            await self._store.close()

    async def _open_store(self) -> ArticleStore | None:
        """Return the store, opened once; None if nothing has been stored."""
        if self._store is None and self._storage.exists():
            store = self._storage.articles()
            await store.open()
            self._store = store
        return self._store

    async def _select(self, selection: Selection, most: int, event: str = "") -> list[Article]:
        """Select at most ``most`` of the last stored articles, then filter them by event."""
        if (store := await self._open_store()) is None:
            return []
        found = export_articles(store, selection, ExportFilter(limit=most))
        return [article async for article in found if event in {"", article.event}]

    async def _crawls(self, _request: web.Request) -> web.Response:
        return json_response(overview(await self._runs.all()))

    async def _search(self, request: web.Request) -> web.Response:
        selection = selection_in(request)
        offset, limit = page_in(request)
        most, event = max(COUNTED, offset + limit), request.query.get("event", "")
        found = await self._select(selection, most, event)
        marks = await self._marks(selection.topic)
        articles = [
            {**brief(one, selection.topic), "mark": marks.get(one.url)}
            for one in found[offset : offset + limit]
        ]
        counted, values = facets(found[:COUNTED])
        return json_response({
            "total": len(found), "more": len(found) >= COUNTED, "articles": articles,
            "counted": min(len(found), COUNTED), "facets": counted, "values": values,
        })  # fmt: skip

    async def _article(self, request: web.Request) -> web.Response:
        url, store = request.query.get("url", ""), await self._open_store()
        story = None if store is None else await store.get(canonical(url) or url)
        if store is None or story is None:
            raise web.HTTPNotFound(text="no such article is stored\n")
        article = story.article
        topic = request.query.get("topic", "") or next(iter(article.topics), "")
        return json_response(
            {
                **displayed_values(article),
                "reprints": [one._asdict() for one in story.reprints],
                "versions": len(await store.versions(article.url)),
                "mark": (await self._marks(topic)).get(article.url),
            }
        )

    async def _export(self, request: web.Request) -> web.Response:
        name, selection = request.match_info["name"], selection_in(request)
        suffix = Path(name).suffix
        if suffix not in _TYPES:
            raise ConfigurationError(
                "{name!r}: the name must end in one of {choices}",
                name=name,
                choices=NameList(_TYPES),
            )
        found = await self._select(selection, MAX_EXPORTED, request.query.get("event", ""))
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        body = exported(suffix, selection.topic, found)
        return web.Response(body=body, content_type=_TYPES[suffix], headers=headers)

    async def _atom(self, request: web.Request) -> web.Response:
        topic = request.match_info["topic"]
        body = exported(".atom", topic, await self._select(Selection(topic), FEED_ENTRIES))
        return web.Response(body=body, content_type=_TYPES[".atom"], charset="utf-8")

    async def _json_feed(self, request: web.Request) -> web.Response:
        topic = request.match_info["topic"]
        feed = json_feed(topic, await self._select(Selection(topic), FEED_ENTRIES))
        return web.Response(text=to_json(feed), content_type="application/feed+json")

    async def _doubtful(self, request: web.Request) -> web.Response:
        topic = self._topic(request.query.get("topic", ""))
        work = uncertain_pages(self._settings, topic, MAX_DOUBTFUL)
        rated = await asyncio.to_thread(asyncio.run, work)  # trains a model
        return json_response([
            {"url": one.url, "title": one.title, "chance": round(chance, 3)}
            for chance, one in rated
        ])  # fmt: skip

    async def _mark(self, request: web.Request) -> web.Response:
        try:
            body = json.loads(await request.read())  # UTF-8, whatever the header declares
            topic, url, wanted = (body[name] for name in ("topic", "url", "wanted"))
            valid = all(isinstance(one, str) and len(one) <= MAX_CHARS for one in (topic, url))
            value = WANTED[wanted]
            f"{topic}{url}".encode()  # no half of a surrogate pair
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise ConfigurationError(_MARK_BODY) from error
        if not valid:
            raise ConfigurationError(
                "topic and url must be strings of at most {longest} characters", longest=MAX_CHARS
            )
        work = mark(self._settings, self._topic(topic), "", url, wanted, MAX_MARKS)
        await asyncio.to_thread(asyncio.run, work)  # in a thread, as it reads all marks
        return json_response({"url": url, "mark": value})

    def _topic(self, name: str) -> Topic:
        """Return a topic that was crawled, so that requests cannot read other files.

        Raises:
            StateError: If no crawl for it has been run.
        """
        crawls = CrawlLog(self._settings["TOPICCRAWL_DATA_DIR"]).all(name) if name else []
        if not crawls or "/" in name or "\\" in name:
            raise StateError(
                "no crawl for topic {name!r} has been run with this data folder", name=name
            )
        return resolve(name)

    async def _marks(self, topic: str) -> dict[str, bool | None]:
        if not topic or not self._storage.exists():
            return {}
        async with MarkStore.opened(self._settings, topic) as store:
            return {one.url: one.wanted for one in await store.marks()}


def selection_in(request: web.Request) -> Selection:
    """Parse a request's query: topic, q, site, and either day or since and until.

    Raises:
        ConfigurationError: If a parameter is invalid.
    """
    get = request.query.get
    since, until = get("since", get("day", "")), get("until", get("day", ""))
    words = get("q", "").strip()
    return Selection(
        get("topic", ""), site_in(get("site", "")), day(since, "since"), day(until, "until"),
        words_in(words) if words else (),
    )  # fmt: skip


def brief(article: Article, topic: str) -> dict[str, Any]:
    """Return the fields of an article that lists show."""
    values = {"id": id_of(article), **{name: getattr(article, name) for name in _BRIEF}}
    text = "" if article.noarchive else article.body[:SUMMARY]
    terms = [[term, round(share, 3)] for term, share in article.words[:6]]
    score = round(score_of(article, topic), 4)
    return {**values, "score": score, "topics": list(article.topics), "terms": terms, "text": text}


def facets(found: list[Article]) -> tuple[Facets, dict[str, int]]:
    """Count articles by site, day, topic and event.

    Returns:
        The ``FACET_VALUES`` most frequent values of each facet with their counts (an event also
        with its title), and the number of all values of each facet. An event has at least two
        articles.
    """
    numbers = {
        "site": Counter(article.site for article in found),
        "day": Counter(article.published[:10] for article in found if article.published),
        "topic": Counter(name for article in found for name in article.topics),
    }
    events = group_by_event(found)
    counted: Facets = {name: one.most_common(FACET_VALUES) for name, one in numbers.items()}
    counted["day"] = sorted(counted["day"], reverse=True)
    counted["event"] = [(one.event, len(one.articles), one.title) for one in events[:FACET_VALUES]]
    return counted, {**{name: len(one) for name, one in numbers.items()}, "event": len(events)}


def exported(suffix: str, topic: str, articles: list[Article]) -> bytes:
    """Export articles in a format of ``scrapy articles export``; feeds need no room on the disk."""
    file = io.BytesIO() if suffix in BINARY else io.StringIO()
    writer = Table(topic).formats()[suffix](file)
    for article in articles:
        writer.write(article)
    writer.end()
    writer.close()
    content = file.getvalue()
    return content if isinstance(content, bytes) else content.encode(encoding_of(suffix), "replace")


def json_feed(topic: str, articles: list[Article]) -> dict[str, Any]:
    """Return a JSON Feed 1.1 (jsonfeed.org) of articles.

    >>> from topiccrawl.model import Article
    >>> published = "2026-01-31T08:00:00"
    >>> article = Article("http://a.test/1", "题", "文", author="甲", published=published)
    >>> item = json_feed("足球", [article])["items"][0]
    >>> item["id"], item["authors"], item["date_published"]
    ('http://a.test/1', [{'name': '甲'}], '2026-01-31T08:00:00+00:00')
    """
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": topic,
        "items": [_item(article) for article in articles],
    }


def _item(article: Article) -> dict[str, Any]:
    fetched = datetime.fromtimestamp(article.fetched_at, UTC).isoformat(timespec="seconds")
    text = "" if article.noarchive else article.body
    published = with_zone(article.published) if "T" in article.published else None
    item = {
        "id": article.url, "url": article.url, "title": article.title, "content_text": text,
        "date_published": published.isoformat() if published else "",
        "date_modified": fetched, "language": article.language, "tags": list(article.topics),
        "authors": [{"name": article.author}] if article.author else [],
    }  # fmt: skip
    return {name: value for name, value in item.items() if value or name == "content_text"}


async def _openapi(_request: web.Request) -> web.Response:
    text = files("topiccrawl.addons.dashboard").joinpath("static", "openapi.json")
    return web.json_response(text=text.read_text(encoding="utf-8"))

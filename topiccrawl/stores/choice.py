"""Which store a crawl or command uses: SQLite in its folder, or the MongoDB that is named."""

from __future__ import annotations

import os
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from topiccrawl.errors import SettingError
from topiccrawl.news.duplicates.index import CAPACITY
from topiccrawl.nodes.address import in_redis
from topiccrawl.stores.changes import ChangeLog
from topiccrawl.stores.database import FILE
from topiccrawl.stores.listing import SqliteListing
from topiccrawl.stores.pages import SqlitePages
from topiccrawl.stores.periods import SqlitePeriods
from topiccrawl.stores.records import SqliteRecords
from topiccrawl.stores.safe import SafeStore
from topiccrawl.stores.sites import SiteKnowledge
from topiccrawl.stores.spool import Spool
from topiccrawl.stores.sqlite import SqliteStore
from topiccrawl.webhook.courier import Courier
from topiccrawl.webhook.receiver import Receiver

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topiccrawl.news.duplicates import Method
    from topiccrawl.stores.changes import TopicChange
    from topiccrawl.stores.contract import Store
    from topiccrawl.stores.listing import Listing
    from topiccrawl.stores.pages import Pages
    from topiccrawl.stores.periods import Periods
    from topiccrawl.stores.records import Records


class Sites(Protocol):
    """What is known of sites; see ``SiteKnowledge``."""

    async def open(self) -> None:
        """Make it ready."""
        ...

    async def close(self) -> None:
        """Release it."""
        ...

    async def get(self, site: str) -> dict[str, Any]:
        """All that is known of a site, by key."""
        ...

    async def put(self, site: str, values: Mapping[str, Any]) -> None:
        """Replace the values of these keys."""
        ...

    async def sites(self, key: str) -> list[str]:
        """The sites of which something is known under a key."""
        ...


class Changes(Protocol):
    """How topics changed; see ``ChangeLog``."""

    def add(self, change: TopicChange, state: Mapping[str, Any]) -> None:
        """Store a change and what was learnt until then."""
        ...

    def all(self, topic: str = "", frontier: str = "") -> list[TopicChange]:
        """All changes, first one first."""
        ...

    def last(self, topic: str, frontier: str) -> tuple[TopicChange, dict[str, Any]] | None:
        """The last change with what was learnt."""
        ...

    def forget(self, topic: str, frontier: str) -> None:
        """Drop what was learnt."""
        ...


def mongodb_uri(settings: Mapping[str, Any]) -> str:
    """The setting MONGODB_URI, else the environment's; "" where neither is.

    Raises:
        SettingError: It is set and pymongo is not installed.

    >>> mongodb_uri({"MONGODB_URI": "mongodb://a.test/news"})
    'mongodb://a.test/news'
    """
    uri = str(settings.get("MONGODB_URI") or os.environ.get("MONGODB_URI") or "")
    if uri and find_spec("pymongo") is None:
        raise SettingError(
            "MONGODB_URI is set and pymongo missing: pip install 'topiccrawl[mongodb]'"
        )
    return uri


def store_of(
    settings: Mapping[str, Any], method: Method | None = None, capacity: int = CAPACITY
) -> Store:
    """Where articles stay; see the stores for the arguments.

    Raises:
        SettingError: MONGODB_URI cannot be used.
    """
    if uri := mongodb_uri(settings):
        from topiccrawl.stores.mongo.store import MongoStore

        return MongoStore(uri, method=method, capacity=capacity)
    store = SqliteStore(settings["TOPICCRAWL_DATA_DIR"], method=method, capacity=capacity)
    return _together(settings, store, method, capacity)


def _together(
    settings: Mapping[str, Any], store: SqliteStore, method: Method | None, capacity: int
) -> Store:
    """The store of one of several nodes: duplicates are told over Redis where it is named."""
    if not in_redis(settings):
        return store
    from topiccrawl.nodes.client import async_client_of
    from topiccrawl.stores.together import TogetherStore

    place = f"{socket.gethostname()}:{store.path.resolve()}"
    return TogetherStore(
        store, place, lambda: async_client_of(settings), method=method, capacity=capacity
    )


def listing_of(settings: Mapping[str, Any]) -> Listing:
    """Lists what is stored; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.stores.mongo.listing import MongoListing

        return MongoListing(uri)
    return SqliteListing(settings["TOPICCRAWL_DATA_DIR"])


def place_of(settings: Mapping[str, Any]) -> str:
    """Where articles stay, for people: a file, or a database without its password.

    >>> place_of({"MONGODB_URI": "mongodb://me:secret@a.test/news"})
    'mongodb://a.test/news'
    """
    if uri := mongodb_uri(settings):
        from topiccrawl.stores.mongo.client import shown

        return shown(uri)
    return str(Path(settings["TOPICCRAWL_DATA_DIR"]) / FILE)


def safe_store_of(
    settings: Mapping[str, Any],
    method: Method | None = None,
    capacity: int = CAPACITY,
    count: Callable[[str], None] = lambda _: None,
) -> Store:
    """The store of a crawl: while a database is away, articles wait in the folder's ``spool``.

    Where TOPICCRAWL_WEBHOOK is set, it tells of new stories; ``count`` takes names of stats.

    Raises:
        SettingError: A setting of theirs cannot be used.
    """
    store, receiver = store_of(settings, method, capacity), webhook_of(settings)
    folder = Path(settings["TOPICCRAWL_DATA_DIR"])
    courier = Courier(folder, store, receiver, count=count) if receiver else None
    return SafeStore(store, Spool(folder / "spool"), courier=courier)


def webhook_of(settings: Mapping[str, Any]) -> Receiver | None:
    """Who is told of new stories, by settings or environment; None where nobody is.

    Raises:
        SettingError: The address or the secret cannot be used.
    """
    url, secret = (
        str(settings.get(name) or os.environ.get(name) or "")
        for name in ("TOPICCRAWL_WEBHOOK", "TOPICCRAWL_WEBHOOK_SECRET")
    )
    return Receiver(url, secret) if url else None


def sites_of(settings: Mapping[str, Any]) -> Sites:
    """What is known of sites; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.stores.mongo.knowledge import MongoSites

        return MongoSites(uri)
    return SiteKnowledge(settings["TOPICCRAWL_DATA_DIR"])


def pages_of(settings: Mapping[str, Any]) -> Pages:
    """States of watched pages; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.stores.mongo.pages import MongoPages

        return MongoPages(uri)
    return SqlitePages(settings["TOPICCRAWL_DATA_DIR"])


def periods_of(settings: Mapping[str, Any]) -> Periods:
    """How far template crawls are; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.stores.mongo.records import MongoPeriods

        return MongoPeriods(uri)
    return SqlitePeriods(settings["TOPICCRAWL_DATA_DIR"])


def records_of(settings: Mapping[str, Any]) -> Records:
    """What template crawls found; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.stores.mongo.records import MongoRecords

        return MongoRecords(uri)
    return SqliteRecords(settings["TOPICCRAWL_DATA_DIR"])


def changes_of(settings: Mapping[str, Any]) -> Changes:
    """How topics changed; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.stores.mongo.knowledge import MongoChanges

        return MongoChanges(uri)
    return ChangeLog(settings["TOPICCRAWL_DATA_DIR"])

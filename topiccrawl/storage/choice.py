"""Choice of the store of a crawl or command: SQLite in its folder, or MongoDB if one is set."""

from __future__ import annotations

import os
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from topiccrawl.dedup.index import CAPACITY
from topiccrawl.errors import SettingError
from topiccrawl.storage.changes import ChangeLog
from topiccrawl.storage.database import FILE
from topiccrawl.storage.listing import SqliteListing
from topiccrawl.storage.pages import SqlitePages
from topiccrawl.storage.periods import SqlitePeriods
from topiccrawl.storage.records import SqliteRecords
from topiccrawl.storage.redisaddress import in_redis
from topiccrawl.storage.sites import SiteKnowledge
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.dedup import Method
    from topiccrawl.storage.changes import TopicChange
    from topiccrawl.storage.contract import Store
    from topiccrawl.storage.listing import Listing
    from topiccrawl.storage.pages import Pages
    from topiccrawl.storage.periods import Periods
    from topiccrawl.storage.records import Records


class Sites(Protocol):
    """Knowledge of sites; see ``SiteKnowledge``."""

    async def open(self) -> None:
        """Open the storage."""
        ...

    async def close(self) -> None:
        """Close the storage."""
        ...

    async def get(self, site: str) -> dict[str, Any]:
        """Return all values of a site, by key."""
        ...

    async def put(self, site: str, values: Mapping[str, Any]) -> None:
        """Replace the values of these keys."""
        ...

    async def sites(self, key: str) -> list[str]:
        """Return the sites that have a value under a key."""
        ...


class Changes(Protocol):
    """Log of changes of topics; see ``ChangeLog``."""

    def add(self, change: TopicChange, state: Mapping[str, Any]) -> None:
        """Store a change and the state learnt until then."""
        ...

    def all(self, topic: str = "", frontier: str = "") -> list[TopicChange]:
        """Return all changes, oldest first."""
        ...

    def last(self, topic: str, frontier: str) -> tuple[TopicChange, dict[str, Any]] | None:
        """Return the last change with the learnt state."""
        ...

    def forget(self, topic: str, frontier: str) -> None:
        """Drop the learnt state."""
        ...


def mongodb_uri(settings: Mapping[str, Any]) -> str:
    """Return the setting MONGODB_URI, else the environment variable, else "".

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
    """Return the store of articles; see the stores for the arguments.

    Raises:
        SettingError: MONGODB_URI cannot be used.
    """
    if uri := mongodb_uri(settings):
        from topiccrawl.addons.mongodb.store import MongoStore

        return MongoStore(uri, method=method, capacity=capacity)
    store = SqliteStore(settings["TOPICCRAWL_DATA_DIR"], method=method, capacity=capacity)
    return _together(settings, store, method, capacity)


def _together(
    settings: Mapping[str, Any], store: SqliteStore, method: Method | None, capacity: int
) -> Store:
    """Return the store of one node; nodes detect duplicates together if Redis is set."""
    if not in_redis(settings):
        return store
    from topiccrawl.addons.redis.client import async_client_of
    from topiccrawl.addons.redis.together import TogetherStore

    place = f"{socket.gethostname()}:{store.path.resolve()}"
    return TogetherStore(
        store, place, lambda: async_client_of(settings), method=method, capacity=capacity
    )


def listing_of(settings: Mapping[str, Any]) -> Listing:
    """Return the lists of stored articles; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.addons.mongodb.listing import MongoListing

        return MongoListing(uri)
    return SqliteListing(settings["TOPICCRAWL_DATA_DIR"])


def place_of(settings: Mapping[str, Any]) -> str:
    """Return the place of the store for people: a file, or a database without its password.

    >>> place_of({"MONGODB_URI": "mongodb://me:secret@a.test/news"})
    'mongodb://a.test/news'
    """
    if uri := mongodb_uri(settings):
        from topiccrawl.addons.mongodb.client import shown

        return shown(uri)
    return str(Path(settings["TOPICCRAWL_DATA_DIR"]) / FILE)


def sites_of(settings: Mapping[str, Any]) -> Sites:
    """Return the knowledge of sites; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.addons.mongodb.knowledge import MongoSites

        return MongoSites(uri)
    return SiteKnowledge(settings["TOPICCRAWL_DATA_DIR"])


def pages_of(settings: Mapping[str, Any]) -> Pages:
    """Return the states of watched pages; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.addons.mongodb.pages import MongoPages

        return MongoPages(uri)
    return SqlitePages(settings["TOPICCRAWL_DATA_DIR"])


def periods_of(settings: Mapping[str, Any]) -> Periods:
    """Return the progress of template crawls; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.addons.mongodb.records import MongoPeriods

        return MongoPeriods(uri)
    return SqlitePeriods(settings["TOPICCRAWL_DATA_DIR"])


def records_of(settings: Mapping[str, Any]) -> Records:
    """Return the records of template crawls; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.addons.mongodb.records import MongoRecords

        return MongoRecords(uri)
    return SqliteRecords(settings["TOPICCRAWL_DATA_DIR"])


def changes_of(settings: Mapping[str, Any]) -> Changes:
    """Return the log of topic changes; raises as ``store_of``."""
    if uri := mongodb_uri(settings):
        from topiccrawl.addons.mongodb.knowledge import MongoChanges

        return MongoChanges(uri)
    return ChangeLog(settings["TOPICCRAWL_DATA_DIR"])

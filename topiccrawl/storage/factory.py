"""Storage of a crawl or command: TOPICCRAWL_STORAGE, or a storage that an add-on provides."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from topiccrawl.dedup.factory import DEFAULT, load_detector
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.dedup.verified import WINDOW
from topiccrawl.errors import SettingError, translated
from topiccrawl.messages import message
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Mapping

    from topiccrawl.storage.contract import ArticleStore, Storage


_NO_CLASS = message(
    "{name}: {path!r} is not a storage class: give a dotted path as in docs/storage.md: {error}"
)
_NO_MAP = message(
    "TOPICCRAWL_STORAGES is {value!r}: map dotted paths of classes to their order: {error}"
)
_UNUSABLE = (ImportError, AttributeError, TypeError, ValueError)


def storage_of(settings: Mapping[str, Any]) -> Storage:
    """Return the storage that the settings name; SQLite by default.

    Commands use this function too, since Scrapy's add-ons change the settings of crawls only.

    Raises:
        SettingError: A setting cannot be used.
    """
    named = settings.get("TOPICCRAWL_STORAGE")
    name = "TOPICCRAWL_STORAGE" if named else "TOPICCRAWL_STORAGES"
    offered = settings.get("TOPICCRAWL_STORAGES") or {}
    with translated(SettingError, _NO_MAP, _UNUSABLE, value=offered):
        given = json.loads(offered) if isinstance(offered, str) else offered
        orders = {path: float(order) for path, order in dict(given).items() if order is not None}
    for path in [named] if named else sorted(orders, key=lambda path: orders[path]):
        with translated(SettingError, _NO_CLASS, _UNUSABLE, name=name, path=path):
            from_settings = resolve_name(path).from_settings
        storage: Storage | None = from_settings(settings)
        if storage is not None:
            return storage
    if named:
        raise SettingError(
            "TOPICCRAWL_STORAGE {named} is not configured: its settings are missing",
            named=named,
        )
    return SqliteStorage(settings["TOPICCRAWL_DATA_DIR"])


def articles_of(settings: Mapping[str, Any]) -> ArticleStore:
    """Return the store of a crawl's articles, with the duplicate detector that the settings name.

    Raises:
        SettingError: A setting of the storage or of duplicates cannot be used.
    """
    detector = load_detector(
        settings.get("TOPICCRAWL_DUPLICATES", DEFAULT),
        int(settings.get("TOPICCRAWL_DUPLICATES_WINDOW", WINDOW)),
    )
    capacity = int(settings.get("TOPICCRAWL_DUPLICATES_ARTICLES", CAPACITY))
    return storage_of(settings).articles(detector, capacity)


class _Closable(Protocol):
    async def close(self) -> None: ...


class _Store(_Closable, Protocol):
    async def open(self) -> None: ...


C = TypeVar("C", bound=_Closable)
T = TypeVar("T")
S = TypeVar("S", bound=_Store)


@asynccontextmanager
async def closed_after(used: C) -> AsyncIterator[C]:
    """Close a listing, ledger or run store at the end of a block."""
    try:
        yield used
    finally:
        await used.close()


@asynccontextmanager
async def opened(store: S) -> AsyncIterator[S]:
    """Open a store, and close it at the end of a block, also if opening fails."""
    async with closed_after(store):
        await store.open()
        yield store


def run_in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a new thread with its own event loop and return its result."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, coroutine).result()

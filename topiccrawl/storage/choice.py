"""Choice of the storage of a crawl or command: TOPICCRAWL_STORAGE, else what add-ons provide."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import SettingError
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.storage.contract import Storage


def storage_of(settings: Mapping[str, Any]) -> Storage:
    """Return the storage that the settings name.

    Crawls and commands choose alike: Scrapy's add-ons change the settings of crawls only.

    Raises:
        SettingError: A setting cannot be used.
    """
    named = settings.get("TOPICCRAWL_STORAGE")
    offered: Mapping[str, int] = settings.get("TOPICCRAWL_STORAGES") or {}
    for path in [named] if named else sorted(offered, key=lambda path: offered[path]):
        storage: Storage | None = _factory(path)(settings)
        if storage is not None:
            return storage
    if named:
        raise SettingError(
            f"TOPICCRAWL_STORAGE {named} is not set up: settings of its own are missing"
        )
    return SqliteStorage(settings["TOPICCRAWL_DATA_DIR"])


def _factory(path: str) -> Any:  # noqa: ANN401 - the class method of a class of others
    try:
        return resolve_name(path).from_settings
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingError(
            f"{path!r} is no storage: give the path of a class as in docs/storage.md: {error}"
        ) from error

"""Tests of the choice of the storage by settings and commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import pytest
from scrapy.settings import Settings
from typing_extensions import override

from topiccrawl.addons.mongodb.storage import MongoStorage
from topiccrawl.addons.redis.storage import NodeStorage
from topiccrawl.commands.isolation import isolated_state
from topiccrawl.errors import SettingError
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

URI, SERVER = "mongodb://me:secret@a.test/news", "redis://a.test"


class OwnStorage(SqliteStorage):
    """Third-party storage."""

    @classmethod
    @override
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        return cls(settings["TOPICCRAWL_DATA_DIR"])


OWN = f"{__name__}.OwnStorage"


def settings(folder: Path, **own: Any) -> Settings:
    found = Settings()
    found.setmodule("topiccrawl.settings", priority="project")
    found.setdict({"TOPICCRAWL_DATA_DIR": str(folder), **own}, priority="cmdline")
    return found


@pytest.mark.parametrize(
    ("own", "environment", "kind"),
    [
        ({}, {}, SqliteStorage),
        ({"MONGODB_URI": URI}, {}, MongoStorage),
        ({}, {"MONGODB_URI": URI}, MongoStorage),
        ({"REDIS_URL": SERVER}, {}, NodeStorage),
        ({}, {"REDIS_URL": SERVER}, NodeStorage),
        ({"REDIS_URL": ""}, {"REDIS_URL": SERVER}, SqliteStorage),
        ({"REDIS_URL": SERVER, "MONGODB_URI": URI}, {}, MongoStorage),
        ({"TOPICCRAWL_STORAGE": "topiccrawl.storage.sqlite.SqliteStorage"}, {"MONGODB_URI": URI},
         SqliteStorage),
        ({"REDIS_URL": SERVER, "MONGODB_URI": URI,
          "TOPICCRAWL_STORAGES": '{"topiccrawl.addons.redis.storage.NodeStorage": 1,'
          ' "topiccrawl.addons.mongodb.storage.MongoStorage": null}'}, {}, NodeStorage),
    ],
)  # fmt: skip
def test_settings_and_environment_select_the_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: dict[str, str],
    environment: dict[str, str], kind: type[object],
) -> None:  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    storage = storage_of(settings(tmp_path, **own))
    assert type(storage) is kind
    assert "secret" not in storage.place


@pytest.mark.parametrize("path", ["nothing", "topiccrawl.none.Storage", "topiccrawl.errors", "a b"])
def test_invalid_storage_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(SettingError, match="is not a storage class"):
        storage_of(settings(tmp_path, TOPICCRAWL_STORAGE=path))


def test_storage_without_its_required_settings_is_refused(tmp_path: Path) -> None:
    named = "topiccrawl.addons.mongodb.storage.MongoStorage"
    with pytest.raises(SettingError, match=r"MongoStorage.*not configured"):
        storage_of(settings(tmp_path, TOPICCRAWL_STORAGE=named))


def test_command_without_crawls_does_not_use_their_storage(tmp_path: Path) -> None:
    chosen = settings(tmp_path, TOPICCRAWL_STORAGE=OWN)
    with isolated_state(chosen):
        storage = storage_of(chosen)
        assert type(storage) is SqliteStorage
        assert not storage.place.startswith(str(tmp_path))

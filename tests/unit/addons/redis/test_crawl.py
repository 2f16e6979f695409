"""Tests of the settings of scrapy-redis users, and of start URLs in Redis."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from topiccrawl.addons.redis.client import client_of
from topiccrawl.addons.redis.crawl import request_of, start
from topiccrawl.errors import SettingError
from topiccrawl.scheduler import meta
from topiccrawl.storage.redis_address import in_redis

if TYPE_CHECKING:
    from scrapy import Request


def test_a_server_named_by_url_or_host_chooses_redis() -> None:
    assert not in_redis(Settings())
    assert in_redis(Settings({"REDIS_URL": "redis://h/0"}))
    assert in_redis(Settings({"REDIS_HOST": "h"}))


def test_environment_names_the_server_without_a_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://there:7/3")
    assert in_redis(Settings())
    assert client_of(Settings()).connection_pool.connection_kwargs["host"] == "there"
    own = client_of(Settings({"REDIS_URL": "redis://h:7/3"}))
    assert own.connection_pool.connection_kwargs["host"] == "h"
    parts = client_of(Settings({"REDIS_HOST": "h"}))
    assert parts.connection_pool.connection_kwargs["host"] == "h"
    assert not in_redis(Settings({"REDIS_URL": ""}))


@pytest.mark.parametrize(
    "settings",
    [
        {"REDIS_URL": "redis://:p@h:7/3"},
        {"REDIS_HOST": "h", "REDIS_PORT": 7, "REDIS_DB": 3, "REDIS_PARAMS": {"password": "p"}},
        {"REDIS_PARAMS": {"url": "redis://h:7/3", "password": "p", "decode_responses": True}},
    ],
)
def test_server_is_read_from_every_form_of_settings(settings: dict[str, object]) -> None:
    known = client_of(Settings(settings)).connection_pool.connection_kwargs
    assert (known["host"], known["port"], known["db"], known["password"]) == ("h", 7, 3, "p")
    assert not known.get("decode_responses")


def test_invalid_address_is_reported() -> None:
    with pytest.raises(SettingError, match="REDIS_URL"):
        client_of(Settings({"REDIS_URL": "localhost"}))


@pytest.mark.parametrize(
    "settings",
    [
        {"REDIS_PARAMS": '{"hush'},
        {"REDIS_PARAMS": '["hush"]'},
        {"REDIS_PORT": "x"},
        {"REDIS_DB": "x"},
    ],
)
def test_invalid_part_of_the_address_is_reported(settings: dict[str, object]) -> None:
    with pytest.raises(SettingError, match="REDIS_PORT and REDIS_DB numbers") as caught:
        client_of(Settings({"REDIS_HOST": "h", **settings}))
    assert "hush" not in str(caught.value)


def test_password_with_a_slash_is_not_reported() -> None:
    with pytest.raises(SettingError, match="percent-encode") as caught:
        client_of(Settings({"REDIS_URL": "redis://:hush/secret@h:6379/0"}))
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_start_url_is_text_or_json() -> None:
    plain, rich = (
        request_of(" http://a.cn/\n"),
        request_of('{"url": "http://a.cn/", "meta": {"n": 1}}'),
    )
    assert plain.url == rich.url == "http://a.cn/"
    assert (plain.meta, rich.meta) == ({}, {"n": 1})
    with pytest.raises(ValueError, match="Missing scheme"):
        request_of("no url")


@pytest.mark.parametrize(
    "text",
    [
        "no url",
        '{"url": ' + "[" * 100_000,
        '{"url": "http://a.cn/", "meta": {"depth": Infinity}}',
        '{"meta": {}}',
        '{"url": "http://a.cn/", "meta": null}',
    ],
)
def test_invalid_start_url_is_logged_and_skipped(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    depth = lambda request: int(request.meta.get("depth", 0))  # noqa: E731
    start(text.encode(), "nev:start_urls", depth, lambda data: request_of(data.decode()))
    assert "Invalid start URL in nev:start_urls" in caplog.text
    assert len(caplog.text) < 1_000


def test_lease_data_of_a_start_url_is_ignored() -> None:
    ticket = {"token": 1, "evidence": []}
    text = json.dumps({"url": "http://a.cn/", "meta": {meta.KEY: ticket, "n": 1}})
    taken: list[Request] = []
    start(text.encode(), "nev:start_urls", taken.append, lambda data: [request_of(data.decode())])
    assert [request.meta for request in taken] == [{"is_start_request": True, "n": 1}]

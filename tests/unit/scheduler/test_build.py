"""Tests of the politeness built from Scrapy's settings, and of their check."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from topiccrawl.errors import SettingError
from topiccrawl.scheduler.build import check_settings, politeness_of

UNLIMITED = {
    "TOPICCRAWL_HOST_PAGES": "0", "TOPICCRAWL_MAX_KNOWN": "0", "TOPICCRAWL_MAX_QUEUED": "0",
    "TOPICCRAWL_SEEN_ERROR": "0.001", "TOPICCRAWL_PAGE_HOSTS": "0", "TOPICCRAWL_DOMAIN_HOSTS": "0",
    "TOPICCRAWL_HOSTS": "0",
}  # fmt: skip


def settings(**changes: str) -> Settings:
    ours = {"TOPICCRAWL_RETRY_DELAY": 1, "TOPICCRAWL_RETRY_MAX_DELAY": 1}
    return Settings({**ours, "TOPICCRAWL_DOMAIN_SHARE": 0.5} | changes)


@pytest.mark.parametrize(("share", "most"), [("0.5", 8), ("0.01", 1), ("1", 16), ("0", 0)])
def test_domain_share_is_a_share_of_all_concurrent_requests(share: str, most: int) -> None:
    own = settings(TOPICCRAWL_DOMAIN_SHARE=share, CONCURRENT_REQUESTS="16")
    assert politeness_of(own).domain_concurrency == most


@pytest.mark.parametrize(
    ("changes", "jitter"),
    [
        ({}, 0.5),
        ({"DOWNLOAD_DELAY_JITTER": "0.1"}, 0.1),
        ({"RANDOMIZE_DOWNLOAD_DELAY": "0"}, 0.0),
        ({"RANDOMIZE_DOWNLOAD_DELAY": "1"}, 0.5),
        ({"RANDOMIZE_DOWNLOAD_DELAY": "0", "DOWNLOAD_DELAY_JITTER": "0.2"}, 0.2),
    ],
)
def test_jitter_is_read_from_either_setting(changes: dict[str, str], jitter: float) -> None:
    assert politeness_of(settings(**changes)).jitter == jitter


def test_download_slots_match_hosts_in_any_spelling() -> None:
    slots = '{"新闻.中国": {"delay": 3}, "News.Test.": {"concurrency": 2}, "[::1]": {}, "mine": {}}'
    hosts = politeness_of(settings(DOWNLOAD_SLOTS=slots)).hosts
    assert hosts == {
        "xn--efvy88h.xn--fiqs8s": (3, None), "news.test": (None, 2),
        "[::1]": (None, None), "mine": (None, None),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTOTHROTTLE_TARGET_CONCURRENCY", "0"),
        ("TOPICCRAWL_HOST_PAGES", "many"),
        ("TOPICCRAWL_RETRY_DELAY", "-1"),
        ("TOPICCRAWL_LANE_SHARE", "0:0"),
    ],
)
def test_invalid_setting_is_reported_with_its_value(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=f"{name} is .?{value}"):
        check_settings(settings(**(UNLIMITED | {name: value})))

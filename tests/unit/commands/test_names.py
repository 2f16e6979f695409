"""A name of a setting that does nothing is told, with what was meant; others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from topiccrawl.commands.names import OURS, strangers

if TYPE_CHECKING:
    from collections.abc import Mapping


def told(given: Mapping[str, str], environment: Mapping[str, str] | None = None) -> list[str]:
    settings = Settings()
    settings.setmodule("topiccrawl.settings")
    settings.setdict(given, priority="cmdline")
    return list(strangers(settings, environment or {}))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("TOPICCRAWL_PAGE", "TOPICCRAWL_PAGES"),
        ("TOPICCRAWL_DATADIR", "TOPICCRAWL_DATA_DIR"),
        ("TOPICCRAWL_MIN_PRIOIR", "TOPICCRAWL_MIN_PRIOR"),
        ("TOPICRAWL_PAGES", "TOPICCRAWL_PAGES"),
        ("DOWNLOD_DELAY", "DOWNLOAD_DELAY"),
        ("MONGODB_URL", "MONGODB_URI"),
    ],
)
def test_a_typing_error_is_told_with_what_was_meant(name: str, meant: str) -> None:
    (line,) = told({name: "1"})
    assert name in line
    assert line.endswith(f"did you mean {meant}?")


def test_what_resembles_nothing_is_told_if_it_claims_to_be_ours() -> None:
    (line,) = told({"TOPICCRAWL_QQQQQQ": "1", "PLAYWRIGHT_BROWSER_TYPE": "chromium", "MY_OWN": "2"})
    assert "TOPICCRAWL_QQQQQQ is not known and does nothing" in line
    assert "did you mean" not in line


def test_all_our_names_are_known() -> None:
    assert told(dict.fromkeys(OURS, "1")) == []
    assert "TOPICCRAWL_MIN_PRIOR" in OURS


def test_of_the_environment_what_is_not_read_is_told_and_no_secret_with_it() -> None:
    environment = {
        "TOPICCRAWL_PAGES": "hush",
        "TOPICCRAWL_WEBHOOK_SECRETS": "hush",
        "TOPICCRAWL_DASHBOARD_TOKEN": "hush",
        "TOPICCRAWL_TEST_BROWSER": "hush",
        "TOPICCRAWL_DATA_DIR": "there",
        "TOPICCRAWL_DASHBOARD_NAMES": "a.test,b.test",
        "HOME": "hush",
    }
    one, other = told({"TOPICCRAWL_DATA_DIR": "there"}, environment)
    assert "TOPICCRAWL_PAGES is not read from there: write -s TOPICCRAWL_PAGES=..." in one
    assert "did you mean TOPICCRAWL_WEBHOOK_SECRET?" in other
    assert "hush" not in one + other

"""Tests of the warnings about unknown names of settings."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from topiccrawl.scheduler.checks import FROM_ENVIRONMENT, KNOWN, OURS, unknown_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SOURCES = sorted((Path(__file__).parents[3] / "topiccrawl").rglob("*.py"))


def warnings_for(
    given: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> list[str]:
    settings = Settings()
    settings.setmodule("topiccrawl.settings")
    settings.setdict(given, priority="cmdline")
    return list(unknown_settings(settings, environment or {}))


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
def test_typing_error_is_reported_with_a_suggestion(name: str, meant: str) -> None:
    (line,) = warnings_for({name: "1"})
    assert name in line
    assert line.endswith(f"did you mean {meant}?")


def test_unknown_name_with_our_prefix_is_reported() -> None:
    (line,) = warnings_for(
        {"TOPICCRAWL_QQQQQQ": "1", "PLAYWRIGHT_BROWSER_TYPE": "chromium", "MY_OWN": "2"}
    )
    assert "TOPICCRAWL_QQQQQQ has no effect" in line
    assert "did you mean" not in line


def test_all_our_settings_are_known() -> None:
    assert warnings_for(dict.fromkeys(OURS, "1")) == []
    assert "TOPICCRAWL_MIN_PRIOR" in OURS


SETTING = re.compile(r"(TOPICCRAWL|REDIS|MONGODB|WARC|MAX_IDLE)(_[A-Z]+)+")
"""Names of our settings, and of settings of the packages that we replace."""
READERS = {"get", "getbool", "getint", "getfloat", "getlist", "getdict", "number", "_hosts"}


def test_all_settings_read_by_the_package_are_known() -> None:
    read = {name for path in SOURCES for name in settings_in(ast.parse(path.read_text("utf-8")))}
    assert {"TOPICCRAWL_DATA_DIR", "DOWNLOAD_DELAY", "REDIS_HOST"} <= read
    no_settings = {"TOPICCRAWL_", "SCRAPY_SETTINGS_MODULE"}
    assert read - KNOWN - FROM_ENVIRONMENT - no_settings == set()


def test_no_setting_name_is_composed_at_run_time() -> None:
    composed = [p.name for p in SOURCES if re.search(r'f"TOPICCRAWL_\w*{', p.read_text("utf-8"))]
    assert composed == []
    for name in ("SAMPLE", "WORDS", "HALF", "FLOOR", "FLOOR_QUANTILE", "CEILING_QUANTILE"):
        assert f"TOPICCRAWL_ADAPT_{name}" in OURS


def settings_in(tree: ast.AST) -> Iterator[str]:
    """Yield constants that look like our settings, and all names passed to settings readers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and SETTING.fullmatch(str(node.value)):
            yield str(node.value)
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            for given in node.args if called in READERS else ():
                if isinstance(given, ast.Constant) and re.fullmatch("[A-Z_]{4,}", str(given.value)):
                    yield str(given.value)


def test_unread_environment_is_reported_without_secrets() -> None:
    environment = {
        "TOPICCRAWL_PAGES": "hush",
        "TOPICCRAWL_WEBHOOK_SECRETS": "hush",
        "TOPICCRAWL_DASHBOARD_TOKEN": "hush",
        "TOPICCRAWL_TEST_BROWSER": "hush",
        "TOPICCRAWL_DATA_DIR": "there",
        "TOPICCRAWL_DASHBOARD_NAMES": "a.test,b.test",
        "HOME": "hush",
    }
    first, second = warnings_for({"TOPICCRAWL_DATA_DIR": "there"}, environment)
    assert "TOPICCRAWL_PAGES is not read from the environment: use -s TOPICCRAWL_PAGES=..." in first
    assert "did you mean TOPICCRAWL_WEBHOOK_SECRET?" in second
    assert "hush" not in first + second

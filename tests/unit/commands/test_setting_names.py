"""A name of a setting that does nothing is reported, with what was meant; others are not."""

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


def told(given: Mapping[str, str], environment: Mapping[str, str] | None = None) -> list[str]:
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
def test_a_typing_error_is_told_with_what_was_meant(name: str, meant: str) -> None:
    (line,) = told({name: "1"})
    assert name in line
    assert line.endswith(f"did you mean {meant}?")


def test_what_resembles_nothing_is_told_if_it_claims_to_be_ours() -> None:
    (line,) = told({"TOPICCRAWL_QQQQQQ": "1", "PLAYWRIGHT_BROWSER_TYPE": "chromium", "MY_OWN": "2"})
    assert "TOPICCRAWL_QQQQQQ has no effect" in line
    assert "did you mean" not in line


def test_all_our_names_are_known() -> None:
    assert told(dict.fromkeys(OURS, "1")) == []
    assert "TOPICCRAWL_MIN_PRIOR" in OURS


SETTING = re.compile(r"(TOPICCRAWL|REDIS|MONGODB|WARC|MAX_IDLE)(_[A-Z]+)+")
"""Names that are settings of ours, or of what we take the place of, wherever they stand."""
READERS = {"get", "getbool", "getint", "getfloat", "getlist", "getdict", "number", "_hosts"}


def test_all_settings_that_the_package_reads_are_known() -> None:
    read = {name for path in SOURCES for name in settings_in(ast.parse(path.read_text("utf-8")))}
    assert {"TOPICCRAWL_DATA_DIR", "DOWNLOAD_DELAY", "REDIS_HOST"} <= read
    assert read - KNOWN - FROM_ENVIRONMENT - {"TOPICCRAWL_"} == set()


def test_settings_whose_names_are_put_together_are_known_by_the_same_table() -> None:
    put_together = [
        p.name for p in SOURCES if re.search(r'f"TOPICCRAWL_\w*{', p.read_text("utf-8"))
    ]
    assert put_together == []
    for name in ("SAMPLE", "WORDS", "HALF", "FLOOR", "FLOOR_QUANTILE", "CEILING_QUANTILE"):
        assert f"TOPICCRAWL_ADAPT_{name}" in OURS


def settings_in(tree: ast.AST) -> Iterator[str]:
    """Constants that look like our settings, and all names that settings are asked for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and SETTING.fullmatch(str(node.value)):
            yield str(node.value)
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            for given in node.args if called in READERS else ():
                if isinstance(given, ast.Constant) and re.fullmatch("[A-Z_]{4,}", str(given.value)):
                    yield str(given.value)


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
    assert "TOPICCRAWL_PAGES is not read from the environment: use -s TOPICCRAWL_PAGES=..." in one
    assert "did you mean TOPICCRAWL_WEBHOOK_SECRET?" in other
    assert "hush" not in one + other

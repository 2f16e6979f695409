"""Tests of ``LastErrors``: the errors that a crawl prints if its log is a file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from topiccrawl.commands.crawl import LastErrors
from topiccrawl.errors import StorageError
from topiccrawl.messages import choose_language

if TYPE_CHECKING:
    import pytest

logger = logging.getLogger("a.library")


def test_last_three_distinct_errors_are_kept() -> None:
    with LastErrors() as errors:
        for name in "abbcd":
            logger.error("no %s", name)
        logger.warning("no matter")
    assert list(errors.lines) == ["ERROR: no b", "ERROR: no c", "ERROR: no d"]


def test_exception_without_text_keeps_the_message() -> None:
    with LastErrors() as errors:
        for failure in (TimeoutError(), OSError("disk full")):
            try:
                raise failure
            except OSError:
                logger.exception("cannot read it")
    assert list(errors.lines) == ["ERROR: cannot read it", "ERROR: disk full"]


def test_errors_are_in_the_language_of_the_user(caplog: pytest.LogCaptureFixture) -> None:
    error = StorageError("{folder} is not empty: choose a new folder", folder="x")
    choose_language("zh")
    try:
        with LastErrors() as errors:
            logger.error("%s", error)
            try:
                raise error
            except StorageError:
                logger.exception("failed")
    finally:
        choose_language("")
    assert list(errors.lines) == ["错误：x 不是空的：请给出新目录"]
    assert caplog.messages[0] == "x is not empty: choose a new folder"


def test_invalid_log_call_raises_no_exception(capsys: pytest.CaptureFixture[str]) -> None:
    with LastErrors() as errors:
        record = logging.LogRecord("a.library", logging.ERROR, "a.py", 1, "%s %s", ("x",), None)
        errors.handle(record)
    assert not errors.lines
    assert "--- Logging error ---" in capsys.readouterr().err

"""Errors that a crawl repeats below a log that is a file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from topiccrawl.commands.crawl import LastErrors

if TYPE_CHECKING:
    import pytest

logger = logging.getLogger("a.library")


def test_the_last_three_errors_are_kept_once_each() -> None:
    with LastErrors() as errors:
        for name in "abbcd":
            logger.error("no %s", name)
        logger.warning("no matter")
    assert list(errors.lines) == ["ERROR: no b", "ERROR: no c", "ERROR: no d"]


def test_an_exception_without_text_does_not_hide_the_message() -> None:
    with LastErrors() as errors:
        for failure in (TimeoutError(), OSError("disk full")):
            try:
                raise failure
            except OSError:
                logger.exception("cannot read it")
    assert list(errors.lines) == ["ERROR: cannot read it", "ERROR: disk full"]


def test_a_wrong_log_call_does_not_break_its_caller(capsys: pytest.CaptureFixture[str]) -> None:
    with LastErrors() as errors:
        record = logging.LogRecord("a.library", logging.ERROR, "a.py", 1, "%s %s", ("x",), None)
        errors.handle(record)
    assert not errors.lines
    assert "--- Logging error ---" in capsys.readouterr().err

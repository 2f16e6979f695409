"""Tests of ``LastErrors``: the errors that a crawl prints if its log is a file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from topiccrawl.commands.crawl import LastErrors

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


def test_invalid_log_call_raises_no_exception(capsys: pytest.CaptureFixture[str]) -> None:
    with LastErrors() as errors:
        record = logging.LogRecord("a.library", logging.ERROR, "a.py", 1, "%s %s", ("x",), None)
        errors.handle(record)
    assert not errors.lines
    assert "--- Logging error ---" in capsys.readouterr().err

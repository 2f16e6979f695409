"""Tests of page texts in the log: no terminal commands, no forged records."""

from __future__ import annotations

import json
import logging

from topiccrawl.extensions.jsonlog import JsonFormatter, PlainRecord

FORGED = "\x1b[2Ka\u202e\n2026-11-22 [scrapy] ERROR: forged\r\n\x9b"


def record_of(text: str) -> logging.LogRecord:
    about = (ValueError, ValueError(text), None)
    return PlainRecord("a", logging.ERROR, __file__, 1, "Title: %s", (text,), about)


def test_record_is_escaped_and_starts_one_line() -> None:
    lines = logging.Formatter("%(levelname)s: %(message)s").format(record_of(FORGED)).split("\n")
    assert lines[0] == "ERROR: Title: \\u001b[2Ka\\u202e"
    assert lines[1] == "  2026-11-22 [scrapy] ERROR: forged\\u000d"
    assert "  ValueError: \\u001b[2Ka\\u202e" in lines
    assert all(line.startswith("  ") for line in lines[1:])
    assert not any(set("\x1b\x9b\r\u202e").intersection(line) for line in lines)


def test_json_has_the_original_text() -> None:
    line = JsonFormatter().format(record_of(FORGED))
    assert json.loads(line)["message"] == f"Title: {FORGED}"
    assert not set("\x1b\x9b\r\n\u202e").intersection(line)

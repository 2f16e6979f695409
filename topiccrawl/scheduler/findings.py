"""Findings of checks, for ``scrapy doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """Severity: a crawl works, works with limitations, or fails."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check.

    Attributes:
        level: Severity.
        what: Name of the check.
        text: Description of the result.
        remedy: Advice to the user, or "".
    """

    level: Level
    what: str
    text: str
    remedy: str = ""


def ok(what: str, text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(Level.OK, what, text)


def warn(what: str, text: str, remedy: str) -> Finding:
    """Return a finding that limits a crawl."""
    return Finding(Level.WARN, what, text, remedy)


def fail(what: str, text: str, remedy: str) -> Finding:
    """Return a finding that makes a crawl fail."""
    return Finding(Level.FAIL, what, text, remedy)

"""What an examination finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is: a crawl goes, goes but may disappoint, or fails."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        level: How bad it is.
        what: Its name.
        text: What was found.
        remedy: What to do, or "".
    """

    level: Level
    what: str
    text: str
    remedy: str = ""


def ok(what: str, text: str) -> Finding:
    """All is well."""
    return Finding(Level.OK, what, text)


def warn(what: str, text: str, remedy: str) -> Finding:
    """A crawl goes, but."""
    return Finding(Level.WARN, what, text, remedy)


def fail(what: str, text: str, remedy: str) -> Finding:
    """A crawl would fail."""
    return Finding(Level.FAIL, what, text, remedy)

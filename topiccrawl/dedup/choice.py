"""Duplicate methods by their names in the setting TOPICCRAWL_DUPLICATES."""

from __future__ import annotations

from topiccrawl.dedup.contract import ExactText, Method
from topiccrawl.dedup.ranked import RankedKeywords
from topiccrawl.dedup.verified import WINDOW, VerifiedShingles
from topiccrawl.errors import SettingError

NAMES = (VerifiedShingles.name, RankedKeywords.name, ExactText.name)
"""Names of the methods, the default first."""

DEFAULT = NAMES[0]


def method_named(name: str = DEFAULT, window: int = WINDOW) -> Method:
    """Return a new method.

    Args:
        name: One of ``NAMES``.
        window: Days between two articles beyond which ``shingles`` does not compare them.

    Raises:
        SettingError: The name is unknown, or the window is below 0.

    >>> method_named("ranked-keywords").name
    'ranked-keywords'
    """
    if window < 0:
        raise SettingError(
            f"TOPICCRAWL_DUPLICATES_WINDOW = {window}: "
            "give days between two articles of one story, or 0 for no bound"
        )
    if name == VerifiedShingles.name:
        return VerifiedShingles(window)
    if name == RankedKeywords.name:
        return RankedKeywords()
    if name == ExactText.name:
        return ExactText()
    raise SettingError(f"TOPICCRAWL_DUPLICATES = {name!r}: choose one of {', '.join(NAMES)}")

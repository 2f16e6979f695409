"""Samples of long texts, for what is estimated and not counted."""

from __future__ import annotations

SAMPLED = 2_000
"""Characters of a text that are segmented for its length; of a longer one, a sample (``sample``).

Its terms are counted in the whole text. Over the longer pages of four collections the score differs
by 2 to 3 % (standard deviation; of Chinese help pages by 5 %), as much as of windows twice as long
and twice as many. Harvest areas of six sets of topics move by -.003 to +.001 on average against
those of 4,000 characters. Scoring 30 kB costs a third, more text no more.
"""

WINDOW = 100
"""Characters of one window of a sample: many short ones, since a page's parts differ."""

_SEAM = 30
"""Characters that are searched for a blank, so that a window cuts no Latin word."""


def sample(text: str) -> list[str]:
    """Return the whole text, or evenly spread windows of a long one, ``SAMPLED`` characters in all.

    The squared length of a text is a sum over its words, so a sample estimates it.

    >>> sum(map(len, sample("新" * 10_000))), sample("short")
    (2000, ['short'])
    """
    if len(text) <= SAMPLED:
        return [text]
    windows = SAMPLED // WINDOW
    stride = (len(text) - WINDOW) / (windows - 1)
    return [_window(text, round(number * stride)) for number in range(windows)]


def _window(text: str, start: int) -> str:
    """Return the window that begins here, with its ends moved to blanks."""
    end = start + WINDOW
    first = text.find(" ", start, start + _SEAM) if start else -1
    last = text.rfind(" ", end - _SEAM, end) if end < len(text) else -1
    return text[start if first < 0 else first : end if last < 0 else last]

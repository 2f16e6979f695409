"""Headlines of stored stories: an anchor text is a provisional title [S4]."""

from __future__ import annotations

import re
from collections import OrderedDict

from topiccrawl.text.normal import fold, has_han

LEAST = 10
"""Letters of a Chinese headline that names one story; shorter ones are rubrics."""

LATIN_LEAST = 30
"""The same in English."""

MOST = 100_000
"""Headlines in memory, the newest; about 250 bytes each."""

_NO_LETTERS = re.compile(r"[\W_]+")


class Headlines:
    """Headlines with the site of their story.

    >>> known = Headlines()
    >>> known.add("老城区三座旧桥年内大修 行人走浮桥", "a.test")
    >>> known.elsewhere("老城区三座旧桥年内大修，行人走浮桥", "b.test")
    True
    >>> known.elsewhere("老城区三座旧桥年内大修，行人走浮桥", "a.test")
    False
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._sites: OrderedDict[str, str] = OrderedDict()

    def add(self, title: str, site: str) -> None:
        """Add the headline of a stored story; the first site that had it stays."""
        key = _key(title)
        if key and key not in self._sites:
            self._sites[key] = site
            if len(self._sites) > self._most:
                self._sites.popitem(last=False)

    def elsewhere(self, anchor: str, site: str) -> bool:
        """Return whether a link's text is the headline of a story from another site."""
        return self._sites.get(_key(anchor), site) != site


def _key(text: str) -> str:
    """Return the letters of a headline; "" where they are too few to name a story."""
    letters = _NO_LETTERS.sub("", fold(text))
    return letters if len(letters) >= (LEAST if has_han(letters) else LATIN_LEAST) else ""

"""Anchor texts and URLs of links."""

from __future__ import annotations

import random
from html import escape
from typing import TYPE_CHECKING

from lab.demo.grammar import parse
from lab.demo.plan import Entry, Kind, Plan
from lab.demo.vocabulary import Language, language

if TYPE_CHECKING:
    from lab.demo.editions import Editions

_LONG = 22
"""Characters of a headline that a narrow list shows; some lists cut it there."""
_NARROW = frozenset({"related", "hot", "channel"})


class Anchors:
    """Labels and URLs of links between entries."""

    def __init__(self, plan: Plan, editions: Editions) -> None:
        self.plan = plan
        self.editions = editions

    def label(self, source: int, target: int, role: str) -> str:
        """Return the visible text of a link, in the source's script, not escaped."""
        entry = self.plan.entries[target]
        here = self.plan.entries[source].site
        return self.editions.say(here, self._text(source, target, entry, role))

    def _text(self, source: int, target: int, entry: Entry, role: str) -> str:
        words = self.words(entry.site)
        if entry.kind == Kind.HUB:
            return self._hub(source, target, role, words)
        if entry.kind == Kind.COPY:
            return words.lines["copy"]
        if entry.story >= 0:
            title = self.editions.title(target)
            cut = role in _NARROW and len(title) > _LONG and (source + target) % 4 == 0
            return title[: _LONG - 2] + "…" if cut else title
        return self._service(source, entry, words)

    def _hub(self, source: int, target: int, role: str, words: Language) -> str:
        entry, here = self.plan.entries[target], self.plan.entries[source]
        if entry.section < 0:
            if self.plan.fronts[entry.site] != target:
                return words.lines["archive_name"]
            return (
                words.lines["home"] if here.site == entry.site else self.plan.sites[entry.site].name
            )
        if role == "pager":
            turn = "next_page" if entry.page > here.page else "previous_page"
            options = words.lists[turn]
            return options[entry.site % len(options)]
        return self.plan.sections[entry.section].title

    def _service(self, source: int, entry: Entry, words: Language) -> str:
        if entry.kind == Kind.COMMENT:
            luck = random.Random(source)  # noqa: S311
            template = words.lists["comment_link"][source % len(words.lists["comment_link"])]
            pieces = (
                p if isinstance(p, str) else str(luck.randint(3, 900)) for p in parse(template)
            )
            return "".join(pieces)
        if entry.kind == Kind.OTHER and entry.url.endswith("/about.html"):
            return words.lines["about"]
        line = "login" if entry.kind == Kind.LOGIN else f"label_{entry.kind}"
        return words.lines[line]

    def words(self, site: int) -> Language:
        """Return the shared words of a site's language."""
        return language("en" if self.plan.sites[site].language == "en" else "zh")

    def href(self, source: int, target: int) -> str:
        """Return the escaped URL as in the page; relative on its own host."""
        host, path = _split(self.plan.entries[source].url)
        url = self.plan.entries[target].url
        there, to = _split(url)
        if host != there:
            return escape(url)
        if self.plan.trait(source).body == "base":
            return escape("../" * 4 + to)
        folder = path[: path.rfind("/") + 1]
        if (source + target) % 3 == 0 and to.startswith(folder) and to != folder:
            return escape("./" + to.removeprefix(folder))
        return escape("/" + to)


def _split(url: str) -> tuple[str, str]:
    """Return host and path without the first slash, including the query."""
    host, _, path = url.removeprefix("http://").partition("/")
    return host, path

"""``scrapy frames show|edit|keep|drop``: show and edit body selectors and repeated lines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from selectolax.lexbor import SelectolaxError
from typing_extensions import override

from topiccrawl.addons.frames.frame import KEY, SiteFrame
from topiccrawl.commands.terminal import OperatorCommand, say, say_or, site_named
from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.links.limits import parse_html
from topiccrawl.messages import message, padded, tr
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import Sites

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_SHOWN = 20
"""Maximum number of boxes and of lines shown for a site, the most frequent first."""
_KNOWN = (None, SiteFrame.forget)
"""Changes, or none, for which a frame of the site must be stored."""


class Command(OperatorCommand, ScrapyCommand):
    """Show and edit the frames of sites."""

    usage = "[options] show [SITE] | edit SITE SELECTOR | keep SITE LINE | drop SITE"
    summary = message("Show or edit the body selectors and the repeated lines of sites")
    details = message(
        "show: all sites, or the boxes and repeated lines of a site with their counts. edit: set "
        "the CSS selector of the body, which takes precedence over learnt ones ('none' removes "
        "it). keep: do not remove a repeated line from articles. drop: delete the learnt frame."
    )

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["show"] | []:
                place = storage_of(self.options).place
                none = tr("{place}: no frame of any site", place=place)
                say_or(asyncio.run(self._summaries()), none)
            case ["show", name]:
                self._show(name)
            case ["edit", name, selector]:
                _check_selector(selector or "p")
                by_hand = "" if selector == "none" else selector
                self._show(name, lambda frame: setattr(frame, "by_hand", by_hand))
            case ["keep", name, line]:
                self._show(name, lambda frame: frame.kept.add(line))
            case ["drop", name]:
                self._show(name, SiteFrame.forget)
            case _:
                raise UsageError

    async def _summaries(self) -> list[str]:
        async with Sites(storage_of(self.options)) as knowledge:
            sites = await knowledge.sites(KEY)
            known = [(site, (await knowledge.get(site)).get(KEY, {})) for site in sites]
        return [summary(site, SiteFrame.from_json(values)) for site, values in known]

    def _show(self, name: str, change: Callable[[SiteFrame], None] | None = None) -> None:
        """Show the frame of a site, after a change of it."""
        site = site_named(name)
        say(*describe(site, asyncio.run(self._frame(site, change))))

    async def _frame(self, site: str, change: Callable[[SiteFrame], None] | None) -> SiteFrame:
        async with Sites(storage_of(self.options)) as knowledge:
            found = knowledge.known(site, KEY) if change in _KNOWN else knowledge.get(site)
            frame = SiteFrame.from_json((await found).get(KEY, {}))
            if change:
                change(frame)
                await knowledge.put(site, {KEY: frame.to_json()})
        return frame


def _check_selector(selector: str) -> None:
    text = message("{selector!r}: {error}; pass a CSS selector")
    with translated(ConfigurationError, text, (SelectolaxError,), selector=selector):
        parse_html("<p>").css(selector)


def summary(site: str, frame: SiteFrame) -> str:
    """Return a summary of a site, as one line."""
    state = message("by hand") if frame.by_hand else message("learns")
    state = message("used") if frame.box and not frame.by_hand else state
    counts = tr(
        "{pages:>6} articles, {lines} repeated lines", pages=frame.pages, lines=len(frame.repeated)
    )
    return f"{site:<30} {padded(state, 8)} {counts}, {frame.box}"


def describe(site: str, frame: SiteFrame) -> list[str]:
    """Return the frame of a site with its counts, as lines."""
    box_line = message("  box  {times:>6} of {pages} bodies: {text}")
    repeated_line = message("  line {times:>6} of {pages} bodies: {text}")
    lines = [summary(site, frame)]
    for box, times in frame.boxes.most_common(_SHOWN):
        lines.append(tr(box_line, times=times, pages=frame.pages, text=box))
    repeated = sorted(frame.repeated.items(), key=lambda item: -item[1])
    for line, times in repeated[:_SHOWN]:
        lines.append(tr(repeated_line, times=times, pages=frame.pages, text=line))
    lines += [tr("  kept by hand: {line}", line=line) for line in sorted(frame.kept)]
    return lines

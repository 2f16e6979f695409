"""``scrapy frames show|edit|keep|drop``: show and edit body selectors and repeated lines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from selectolax.lexbor import SelectolaxError
from typing_extensions import override

from topiccrawl.commands.terminal import OperatorCommand, say, site_named
from topiccrawl.errors import ConfigurationError
from topiccrawl.extract.frames import KEY, SiteFrame
from topiccrawl.links.limits import parse_html
from topiccrawl.messages import message
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import Sites

if TYPE_CHECKING:
    import argparse

_SHOWN = 20
"""Maximum number of boxes and of lines shown for a site, the most frequent first."""


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
                say(*asyncio.run(self._summaries()))
            case ["show", name]:
                site = site_named(name)
                say(*describe(site, asyncio.run(self._frame(site))))
            case ["edit", name, selector]:
                self._edit(site_named(name), "" if selector == "none" else selector)
            case ["keep", name, line]:
                site = site_named(name)
                frame = asyncio.run(self._frame(site))
                frame.kept.add(line)
                self._put(site, frame)
            case ["drop", name]:
                site = site_named(name)
                frame = asyncio.run(self._frame(site))
                frame.forget()
                self._put(site, frame)
            case _:
                raise UsageError

    async def _summaries(self) -> list[str]:
        async with self._knowledge() as knowledge:
            sites = await knowledge.sites(KEY)
            known = [(site, (await knowledge.get(site)).get(KEY, {})) for site in sites]
        return [summary(site, SiteFrame.from_json(values)) for site, values in known]

    async def _frame(self, site: str) -> SiteFrame:
        async with self._knowledge() as knowledge:
            return SiteFrame.from_json((await knowledge.get(site)).get(KEY, {}))

    def _knowledge(self) -> Sites:
        return Sites(storage_of(self.options))

    def _edit(self, site: str, selector: str) -> None:
        try:
            parse_html("<p>").css(selector or "p")
        except SelectolaxError as error:
            raise ConfigurationError(
                "{selector!r}: {error}; pass a CSS selector", selector=selector, error=error
            ) from error
        frame = asyncio.run(self._frame(site))
        frame.by_hand = selector
        self._put(site, frame)

    def _put(self, site: str, frame: SiteFrame) -> None:
        async def put() -> None:
            async with self._knowledge() as knowledge:
                await knowledge.put(site, {KEY: frame.to_json()})

        asyncio.run(put())
        say(*describe(site, frame))


def summary(site: str, frame: SiteFrame) -> str:
    """Return a summary of a site, as one line."""
    state = "by hand" if frame.by_hand else "used" if frame.box else "learns"
    lines = len(frame.repeated)
    return f"{site:<30} {state:<8} {frame.pages:>6} articles, {lines} repeated lines, {frame.box}"


def describe(site: str, frame: SiteFrame) -> list[str]:
    """Return the frame of a site with its counts, as lines."""
    lines = [summary(site, frame)]
    for box, times in frame.boxes.most_common(_SHOWN):
        lines.append(f"  box  {times:>6} of {frame.pages} bodies: {box}")
    repeated = sorted(frame.repeated.items(), key=lambda item: -item[1])
    lines += [
        f"  line {times:>6} of {frame.pages} bodies: {line}" for line, times in repeated[:_SHOWN]
    ]
    lines += [f"  kept by hand: {line}" for line in sorted(frame.kept)]
    return lines

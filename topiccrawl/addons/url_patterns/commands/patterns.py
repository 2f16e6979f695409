"""``scrapy patterns show|learn|edit|export|import|hub``: show and change sites' URL patterns."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections import deque
from contextlib import closing
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.url_patterns.learner import KEY, LearnedSite
from topiccrawl.addons.url_patterns.pattern import Label, Pattern, PatternSet
from topiccrawl.addons.url_patterns.tally import Outcome
from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, say, say_or, site_named
from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.extract.hubs import hub_list
from topiccrawl.links.sitemaps import MAX_BYTES, read_sitemap
from topiccrawl.links.urls import canonical, site_of
from topiccrawl.messages import NameList, message, padded, tr
from topiccrawl.scheduler.frontiers import read_frontier
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import Sites
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy.settings import BaseSettings

    from topiccrawl.addons.url_patterns.site import SiteLearner

_QUEUES = ("prior", "normal", "crawled", "error")
_OUTCOMES = {"news": Outcome.ARTICLE, "hub": Outcome.HUB, "other": Outcome.OTHER}

MOST_SITEMAPS = 50
"""Maximum number of fetched sitemaps; a few files are enough to learn a site's formats."""


class Command(OperatorCommand, ScrapyCommand):
    """Show, learn, edit and export the URL patterns of sites."""

    usage = (
        "[options] show [SITE] | learn [FILE | --urls FILE | --sitemap URL] | "
        "edit SITE LABEL REGEX | export [SITE] | import FILE | hub URL [FILE]"
    )
    summary = message("Show, learn, edit or export the URL patterns that identify news")
    details = message(
        "show: all sites, or the patterns and dropped links of a site. learn: from a file with one "
        "URL per line (--as gives their kind), from sitemaps (URLs marked as news are news), or "
        "from the frontier of the last crawl. edit: add a pattern that takes precedence over "
        "learnt ones (label news, hub, other or open; 'none' removes it). export: print JSON "
        "lines; import: read them as manual patterns. "
        "hub: list the links of a hub page, with dates and the next page; FILE: a saved page."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        parser.add_argument(
            "--as", dest="kind", choices=sorted(_OUTCOMES), help=tr("kind of the URLs")
        )
        parser.add_argument(
            "--urls", type=Path, metavar="FILE", help=tr("learn from a list of URLs")
        )
        parser.add_argument(
            "--sitemap", metavar="URL", help=tr("learn from a sitemap or robots.txt")
        )

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["show"] | []:
                lines = [*starmap(_summary, self._learners().items())]
                place = storage_of(self.options).place
                none = tr("{place}: no URL pattern of any site", place=place)
                say_or(lines, none)
            case ["show", name]:
                site = site_named(name)
                learner, drops, _ = asyncio.run(self._stored([site], known=True))[site]
                say(*describe(site, learner, drops))
            case ["learn", *files] if len(files) <= 1:
                self._learn(self._sources(files, opts))
            case ["edit", name, label, regex]:
                self._edit(site_named(name), label, regex)
            case ["export", *names] if len(names) <= 1:
                self._export([site_named(name) for name in names])
            case ["hub", url, *files] if len(files) <= 1:
                say(*self._hub(url, files))
            case ["import", file]:
                self._import(Path(file))
            case _:
                raise UsageError

    async def _stored(
        self, sites: Iterable[str] | None, *, known: bool = False
    ) -> dict[str, LearnedSite]:
        async with Sites(storage_of(self.options)) as knowledge:
            names = await knowledge.sites(KEY) if sites is None else dict.fromkeys(sites)
            get = partial(knowledge.known, key=KEY) if known else knowledge.get
            return {site: LearnedSite.from_json(await get(site)) for site in names}

    def _learners(
        self, sites: Iterable[str] | None = None, *, known: bool = False
    ) -> dict[str, SiteLearner]:
        """Return the learners of sites, which must be stored if ``known``; default: all stored."""
        found = asyncio.run(self._stored(sites, known=known))
        return {name: site.learner for name, site in found.items()}

    async def _save(self, learners: Mapping[str, SiteLearner]) -> None:
        async with Sites(storage_of(self.options)) as knowledge:
            for site, learner in learners.items():
                await knowledge.put(site, {KEY: learner.to_json()})

    def _queued(self, topic: str | None) -> list[str]:
        with closing(read_frontier(self.last_crawl(topic).frontier, self.options)) as view:
            return [url for queue in _QUEUES for url, _, _ in view.iterate(queue)]

    def _sources(
        self, files: list[str], opts: argparse.Namespace
    ) -> Iterator[tuple[str, Outcome | None]]:
        """Yield URLs with their outcome or None; by default those of the last crawl."""
        given = _OUTCOMES.get(opts.kind)
        if not (files or opts.urls or opts.sitemap):
            yield from ((url, None) for url in self._queued(opts.topic))
        for file in filter(None, (*files, opts.urls)):
            yield from ((url, given) for url in _lines(Path(file)))
        if opts.sitemap:
            for url, news in sitemap_pages(opts.sitemap, self.options):
                yield url, given or (Outcome.ARTICLE if news else None)

    def _learn(self, sources: Iterable[tuple[str, Outcome | None]]) -> None:
        found = [(url, outcome) for one, outcome in sources if (url := canonical(one))]
        learners = self._learners(site_of(url) for url, _ in found)
        for url, outcome in found:
            learner = learners[site_of(url)]
            learner.count_link(url)
            if outcome is not None:
                learner.observe(url, outcome)
        for learner in learners.values():
            learner.learn()
        asyncio.run(self._save(learners))
        say(*starmap(_summary, learners.items()))

    def _edit(self, site: str, label: str, regex: str) -> None:
        learner = self._learners([site])[site]
        new = () if label == "none" else (_by_hand({"expression": regex, "label": label}),)
        _replace(learner, regex, *new)
        asyncio.run(self._save({site: learner}))
        say(*describe(site, learner, {}))

    def _export(self, sites: list[str]) -> None:
        for site, learner in self._learners(sites or None, known=bool(sites)).items():
            for pattern in learner.patterns.patterns:
                say(json.dumps({"site": site, **pattern._asdict()}, ensure_ascii=False))

    def _hub(self, url: str, files: list[str]) -> list[str]:
        text = message("{value}: cannot be read: {error}")
        with translated(ConfigurationError, text, (OSError, ValueError), value=[*files, url][0]):
            data = Path(files[0]).read_bytes() if files else fetch(url, self.options)
        page = decode(data)
        found = hub_list(page.text, url, time.time(), page.encoding)
        if found is None:
            return [tr("{url}: no list of links", url=url)]
        items = [f"{item.published[:16]:<16}  {item.title}  {item.url}" for item in found.items]
        return [*items, tr("next page: {url}", url=found.next_page or tr("none"))]

    def _import(self, file: Path) -> None:
        found = [(site_named(str(one["site"])), one) for one in map(_parse_line, _lines(file))]
        learners = self._learners(site for site, _ in found)
        for site, value in found:
            new = _by_hand(value)
            _replace(learners[site], new.expression, new)
        asyncio.run(self._save(learners))
        say(*starmap(_summary, learners.items()))


def _by_hand(values: Mapping[str, Any]) -> Pattern:
    return Pattern.from_json({**values, "by_hand": True})


def _replace(learner: SiteLearner, expression: str, *new: Pattern) -> None:
    """Replace the patterns of a learner that have an expression."""
    kept = (one for one in learner.patterns.patterns if one.expression != expression)
    learner.patterns = PatternSet((*kept, *new))


def _lines(file: Path) -> list[str]:
    text = message("{file}: cannot be read: {error}; pass a UTF-8 file")
    with translated(ConfigurationError, text, (OSError, UnicodeDecodeError), file=file):
        return [line.strip() for line in file.read_text("utf-8-sig").splitlines() if line.strip()]


def _parse_line(line: str) -> dict[str, Any]:
    text = message("{line!r}: {error}; write one JSON object per line")
    with translated(ConfigurationError, text, (json.JSONDecodeError,), line=line):
        value = json.loads(line)
    if not isinstance(value, dict) or not value.get("site"):
        raise ConfigurationError(
            "{line!r}: no site; write an object with site, expression and label", line=line
        )
    return value


def _summary(site: str, learner: SiteLearner) -> str:
    labels = [pattern.label for pattern in learner.patterns.patterns]
    counts = NameList(f"{labels.count(label)} {label}" for label in Label)
    state = padded(message("filters") if learner.ready else message("learns"), 8)
    judged = tr("{pages:>6} pages judged, patterns: {counts}", pages=learner.pages, counts=counts)
    return f"{site:<30} {state} {judged}"


def describe(site: str, learner: SiteLearner, drops: dict[str, Any]) -> list[str]:
    """Return a text with a site's patterns and dropped links, as lines."""
    lines = [_summary(site, learner)]
    for pattern in learner.patterns.patterns:
        found = tr(
            "{articles} articles, {hubs} hubs, {others} others, {links} links",
            articles=pattern.articles, hubs=pattern.hubs, others=pattern.others, links=pattern.seen,
        )  # fmt: skip
        why = tr("by hand") if pattern.by_hand else found
        lines += [f"  {pattern.label:<6} {pattern.expression}", f"         {why}"]
    if drops:
        lines.append(tr("  dropped links"))
    for what, (count, example, reason) in sorted(drops.items(), key=lambda item: -item[1][0]):
        text = message("  {count:>6} {reason}: {what}, such as {example}")
        lines.append(tr(text, count=count, reason=reason, what=what, example=example))
    return lines


def sitemap_pages(start: str, settings: BaseSettings) -> Iterator[tuple[str, bool]]:
    """Yield the URLs of a sitemap and of the sitemaps it lists, and whether each URL is news.

    Args:
        start: URL of a sitemap, a sitemap index, or a robots.txt that lists sitemaps.
        settings: USER_AGENT, DOWNLOAD_TIMEOUT and DOWNLOAD_DELAY are used.

    Raises:
        ConfigurationError: If the first file cannot be fetched; other failures are skipped.
    """
    waiting, known = deque([start]), {start}
    for number in range(MOST_SITEMAPS):
        if not waiting:
            return
        url = waiting.popleft()
        if number:
            time.sleep(settings.getfloat("DOWNLOAD_DELAY"))
        try:
            found = read_sitemap(fetch(url, settings))
        except (OSError, ValueError) as error:
            if number:
                continue
            raise ConfigurationError(
                "{url}: cannot be fetched: {error}; pass the URL of a sitemap or a robots.txt",
                url=url,
                error=error,
            ) from error
        yield from ((page, page in found.news) for page in found.pages)
        new = [sitemap for sitemap in found.sitemaps if sitemap not in known]
        known.update(new)
        waiting.extend(new)


def fetch(url: str, settings: BaseSettings) -> bytes:
    """Fetch a URL, at most 50 MB; proxies of the environment are used.

    Raises:
        OSError: If the URL cannot be fetched.
        ValueError: If it is not an HTTP URL.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError("not an HTTP URL")
    request = urllib.request.Request(url, headers={"User-Agent": settings["USER_AGENT"]})  # noqa: S310
    timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
    opener = urllib.request.build_opener()  # urllib's default opener caches the first proxy
    try:
        with opener.open(request, timeout=timeout) as answer:
            data: bytes = answer.read(MAX_BYTES)
    except urllib.error.HTTPError as error:
        error.close()  # it is an open answer, too
        raise
    return data

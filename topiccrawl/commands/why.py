"""``scrapy why``: explain the state and the score of a URL, or the result of a topic crawl."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.marking import outcome_of
from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, say
from topiccrawl.errors import StateError
from topiccrawl.links.urls import canonical
from topiccrawl.messages import message, tr
from topiccrawl.scheduler.frontiers import frontiers_of, read_frontier
from topiccrawl.scheduler.requests import page_url
from topiccrawl.scheduler.review import explain_review, seed_outcomes, unreachable_hosts
from topiccrawl.storage.factory import closed_after, storage_of
from topiccrawl.storage.pages import Pages, PageState, Role

if TYPE_CHECKING:
    import argparse

    from topiccrawl.frontier.contract import Explanation
    from topiccrawl.storage.crawls import Crawl

_QUEUES = {
    "prior": "priorQueue: queued, high value",
    "normal": "normalQueue: queued",
    "leased": "leased: being fetched",
    "crawled": "crawledQueue: fetched",
    "error": "errorQueue",
}
_SEEN = (
    "  seen       fetched or failed earlier, and not fetched again; its record was evicted",
    "             (TOPICCRAWL_MAX_KNOWN), or it is a false positive (TOPICCRAWL_SEEN_ERROR)",
    "  remedy     fetch it with topiccrawl frontier requeue URL",
)


class WhyCommand(OperatorCommand, ScrapyCommand):
    """Explain the state and the score of a URL, or the last crawl of a topic."""

    usage = "[options] <url> | --topic TOPIC"
    summary = message(
        "Explain a URL: its queue, the parts of its score, its in-links, the path from a seed"
    )
    details = message(
        "Explains a URL; or, with --topic and no URL, the last crawl of a topic: outcome of each "
        "seed, best pages, terms found and not found, unreachable hosts, and remedies."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) > 1 or not (args or opts.topic):
            raise UsageError
        crawl = self.last_crawl(opts.topic)
        if not args:
            say(*asyncio.run(self._review(crawl)))
            return
        url = canonical(args[0])
        if url is None:
            msg = tr("{value!r} is not an HTTP URL", value=args[0])
            raise UsageError(msg, print_help=False)
        with closing(read_frontier(crawl.frontier, self.options)) as frontier:
            found = frontier.why(url)
        if found is None:
            say(tr("{url}: not recorded in the crawl for {topic}", url=url, topic=crawl.topic))
            self.exitcode = 1
            return
        say(*explain(found))
        if crawl.topic:
            fetched = found.queue == "crawled"
            say(*asyncio.run(outcome_of(self.options, crawl.topic, url, fetched=fetched)))
        state = asyncio.run(self._state(crawl.topic, url))
        if state is not None:
            say(*watched(state))

    async def _review(self, crawl: Crawl) -> list[str]:
        """Return the lines that explain the last run of a crawl."""
        async with closed_after(frontiers_of(self.options).runs()) as runs:
            known = await runs.all()
        found = [one for one in known if one.state["run"]["frontier"] == crawl.frontier]
        review = next((one.state["review"] for one in found if one.state.get("review")), None)
        if review is None:
            raise StateError("{topic}: no run has stored a review", topic=crawl.topic)
        with closing(read_frontier(crawl.frontier, self.options)) as frontier:
            seeds = seed_outcomes(frontier.why, [seed["url"] for seed in review["seeds"]])
            now = {**review, "seeds": seeds, "hosts": unreachable_hosts(frontier)}
        totals = found[0].state["totals"]
        head = tr(
            "topic {topic}: {pages} pages, {relevant} on topic in the last run",
            topic=crawl.topic, pages=totals["pages"], relevant=totals["relevant"],
        )  # fmt: skip
        return [head, *explain_review(now)]

    async def _state(self, owner: str, url: str) -> PageState | None:
        async with Pages(storage_of(self.options)) as pages:
            return (await pages.get(owner, [url])).get(url)


def watched(state: PageState) -> list[str]:
    """Return the lines that describe the visits of a watched page."""
    visits = state.more.get("visits", {})
    seen = f"{visits.get('visits', 1)} visits, the last at {_time(state.checked_at)}"
    due = _time(state.due) if state.due else "never"
    lines = [f"  watched    as {state.role}: {seen}, next at {due}"]
    if state.role is Role.HUB:
        lines.append(f"  brought    {visits.get('gains', 0.0):.1f} new articles on topic")
    dates = {"changed": state.changed_at, "gone": state.gone_at}
    return lines + [f"  {name:<10} {_time(at)}" for name, at in dates.items() if at]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().isoformat(" ", "seconds")


def explain(found: Explanation) -> list[str]:
    """Return the lines that explain a URL."""
    if found.queue == "seen":
        return [found.url, *_SEEN]
    lines = [
        found.url,
        f"  queue      {_QUEUES[found.queue]}{f' ({found.reason})' if found.reason else ''}",
        f"  value      {found.value:.4f}, of which {found.bias:+.4f} prior of host or directory",
        *(f"  {name:<18} {number:.4f}" for name, number in found.evidence.items()),
    ]
    if found.relevance is not None:
        lines.append(f"  relevance  {found.relevance:.4f} (of the fetched page)")
    lines += [
        f"  anchor     {found.anchor or '(none)'}",
        f"  context    {found.context or '(none)'}",
        f"  in-links   {found.inlinks} crawled pages{'; the best:' if found.parents else ''}",
        *(f"    {value:.4f}  {page_url(parent)}" for parent, value in found.parents),
        f"  path       {found.depth} links from the seed:",
        *(f"    {page_url(step)}" for step in found.path),
        f"  failures   {found.attempts}",
    ]
    return lines

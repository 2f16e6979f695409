"""``scrapy why``: explain the state and the score of a URL, or the result of a topic crawl."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from datetime import datetime
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.marking import outcome_of
from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, say
from topiccrawl.errors import StateError, TopicError
from topiccrawl.links.hosts import HostRules
from topiccrawl.links.urls import canonical
from topiccrawl.messages import field, message, tr
from topiccrawl.scheduler.build import link_refusal, topic_rules
from topiccrawl.scheduler.frontiers import frontiers_of, read_frontier
from topiccrawl.scheduler.requests import page_url
from topiccrawl.scheduler.review import cause, explain_review, seed_outcomes, unreachable_hosts
from topiccrawl.storage.factory import closed_after, storage_of
from topiccrawl.storage.pages import Pages, PageState, Role
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse

    from topiccrawl.frontier.contract import Explanation
    from topiccrawl.storage.crawls import Crawl

QUEUE_LABELS = {
    "prior": message("priorQueue: queued, high value"),
    "normal": message("normalQueue: queued"),
    "leased": message("leased: being fetched"),
    "crawled": message("crawledQueue: fetched"),
    "error": message("errorQueue"),
}
"""Descriptions of queues by name."""
KINDS = message("article"), message("hub"), message("other"), message("redirected")
"""Reasons of crawled pages."""


class WhyCommand(OperatorCommand, ScrapyCommand):
    """Explain the state and the score of a URL, or the last crawl of a topic."""

    usage = "[options] <url> | --topic TOPIC"
    summary = message(
        "Explain a URL: its queue, the parts of its score, its in-links, the path from a seed"
    )
    details = message(
        "Explains a URL; or, with --topic and no URL, the last crawl of a topic: outcome of each "
        "seed, best pages, terms found and not found, hosts of pages not fetched, and remedies."
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
            say(*self._refusal(opts.topic or crawl.topic, url))
            self.exitcode = 1
            return
        say(*explain(found))
        if crawl.topic:
            fetched = found.queue == "crawled"
            say(*asyncio.run(outcome_of(self.options, crawl.topic, url, fetched=fetched)))
        state = asyncio.run(self._state(crawl.topic, url))
        if state is not None:
            say(*watched(state))

    def _refusal(self, topic: str, url: str) -> list[str]:
        """Return lines with the reason if the rules of a topic refuse links to a URL."""
        if not topic:
            return []
        hosts = HostRules((), ())  # of a crawl whose name is no argument that gives a topic
        with suppress(TopicError):
            hosts = topic_rules(resolve(topic))
        if not (reason := link_refusal(hosts, self.options)(url)):
            return []
        source = tr("(by the topic and the settings, without arguments such as -a sites)")
        found = tr("links to it are not followed: {reason}", reason=reason)
        return [field("refused", found), f"{'':13}{source}"]

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
        return [head, *explain_review(now, totals["relevant"] - totals["hubs"])]

    async def _state(self, owner: str, url: str) -> PageState | None:
        async with Pages(storage_of(self.options)) as pages:
            return (await pages.get(owner, [url])).get(url)


def watched(state: PageState) -> list[str]:
    """Return the lines that describe the visits of a watched page."""
    visits = state.more.get("visits", {})
    text = tr(
        "as {role}: {visits} visits, the last at {last}, next at {due}",
        role=state.role, visits=visits.get("visits", 1), last=_time(state.checked_at),
        due=_time(state.due) if state.due else tr("never"),
    )  # fmt: skip
    lines = [field("watched", text)]
    if state.role is Role.HUB:
        gains = f"{visits.get('gains', 0.0):.1f}"
        lines.append(field("brought", tr("{gains} new articles on topic", gains=gains)))
    dates = {message("changed"): state.changed_at, message("gone"): state.gone_at}
    return lines + [field(name, _time(at)) for name, at in dates.items() if at]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at).astimezone().isoformat(" ", "seconds")


def explain(found: Explanation) -> list[str]:
    """Return the lines that explain a URL."""
    if found.queue == "seen":
        seen = tr("fetched or failed earlier, and not fetched again; its record was evicted")
        why = tr("(TOPICCRAWL_MAX_KNOWN), or it is a false positive (TOPICCRAWL_SEEN_ERROR)")
        remedy = tr("fetch it with topiccrawl frontier requeue URL")
        return [found.url, field("seen", seen), f"{'':13}{why}", field("remedy", remedy)]
    value, bias, none = f"{found.value:.4f}", f"{found.bias:+.4f}", tr("(none)")
    reason = tr(found.reason) if found.reason in KINDS else found.reason
    best = tr("; the best:") if found.parents else ""
    text = tr("{value}, of which {bias} prior of host or directory", value=value, bias=bias)
    is_seed = not found.depth and len(found.path) == 1  # not the target of its redirect
    path = tr("a seed:") if is_seed else tr("{number} links from the seed:", number=found.depth)
    lines = [
        found.url,
        field("queue", tr(QUEUE_LABELS[found.queue]) + (f" ({reason})" if reason else "")),
        *([field("cause", words)] if (words := cause(found.reason)) != found.reason else ()),
        field("value", text),
        *(f"  {name:<18} {number:.4f}" for name, number in found.evidence.items()),
    ]
    if found.relevance is not None:
        score = f"{found.relevance:.4f}"
        lines.append(field("relevance", tr("{score} (of the fetched page)", score=score)))
    lines += [
        field("anchor", found.anchor or none),
        field("context", found.context or none),
        field("in-links", tr("{number} crawled pages", number=found.inlinks) + best),
        *(f"    {value:.4f}  {page_url(parent)}" for parent, value in found.parents),
        field("path", path),
        *(f"    {page_url(step)}" for step in found.path),
        field("failures", found.attempts),
    ]
    return lines

"""Explanation of a crawl with little or no result: seeds, best pages, terms, hosts, advice."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from topiccrawl.links.urls import host_of
from topiccrawl.messages import NameList, tr
from topiccrawl.model import CHALLENGE
from topiccrawl.scheduler.finish import is_processing_error
from topiccrawl.scheduler.requests import page_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from topiccrawl.frontier.contract import Explanation, Reader

SEEDS = 30
"""Maximum number of seeds listed."""
HOSTS = 6
"""Maximum number of hosts listed for each cause."""
TERMS = 12
"""Maximum number of terms listed."""
ERRORS = 20_000
"""Maximum number of errorQueue records read to find unreachable hosts."""
_NETWORK = (
    "cannot-resolve-host", "tls-failed", "download-connection-refused", "download-timeout",
    "download-failed",
)  # fmt: skip
"""Error reasons that a network or a proxy may cause."""
UNREACHED = (
    *_NETWORK, "http-401", "http-403", "http-429", "http-451", "robots", "robots-unavailable",
    CHALLENGE,
)  # fmt: skip
"""Error reasons by which the host of a page is listed."""


def seed_outcomes(
    why: Callable[[str], Explanation | None], urls: Iterable[str]
) -> list[dict[str, Any]]:
    """Return queue, reason and relevance of each seed."""
    found = [(url, why(url)) for url in islice(urls, SEEDS)]
    return [
        {
            "url": url, "queue": entry.queue if entry else "",
            "reason": entry.reason if entry else "", "relevance": entry and entry.relevance,
        }
        for url, entry in found
    ]  # fmt: skip


def unreachable_hosts(frontier: Reader) -> dict[str, list[str]]:
    """Return the hosts of pages that failed for a reason of ``UNREACHED``, by reason.

    Reading stops at the last such page: the errorQueue is a part of all records of the frontier.
    """
    hosts: dict[str, dict[str, None]] = {}
    counts = frontier.counts()
    number = sum(counts.get(f"error/{reason}", 0) for reason in UNREACHED)
    errors = islice(frontier.iterate("error"), ERRORS)
    for url, _, reason in islice((one for one in errors if one[2] in UNREACHED), number):
        hosts.setdefault(reason, {})[host_of(url)] = None
    return {reason: list(names)[:HOSTS] for reason, names in hosts.items()}


def explain_review(review: Mapping[str, Any], articles: int = 0) -> list[str]:
    """Return lines that explain the result of a crawl and, without articles, what to try next."""
    if not review:
        return []
    lines = [_seed_line(seed) for seed in review["seeds"]]
    if review["best"]:
        limit = f"{review['threshold']:.3f}"
        lines.append(tr("  best pages (on topic from {limit}):", limit=limit))
        lines += [f"    {score:.3f}  {url}  {title}" for score, url, title in review["best"]]
    if review["met"]:
        found = sorted(review["met"].items(), key=lambda item: -item[1])
        named = NameList(tr("{term} on {pages} pages", term=t, pages=n) for t, n in found[:TERMS])
        lines.append(tr("  terms found: {terms}", terms=named))
    if review["never"] and review["best"]:  # not if no page was read
        lines.append(tr("  terms not found: {terms}", terms=NameList(review["never"][:TERMS])))
    for reason, hosts in review["hosts"].items():
        named = NameList(hosts)
        text = tr("  not fetched ({cause}): pages of {hosts}", cause=cause(reason), hosts=named)
        lines.append(text)
    tips = [] if articles else advice(review)
    return [*lines, *(tr("  try        {advice}", advice=item) for item in tips)]


def _seed_line(seed: Mapping[str, Any]) -> str:
    queue, reason = seed["queue"], seed["reason"]
    if queue == "error":
        outcome = cause(reason)
    elif seed["relevance"] is not None:
        outcome = tr("fetched, relevance {score}", score=f"{seed['relevance']:.3f}")
    elif queue in {"prior", "normal", "leased"}:
        outcome = tr("not fetched yet")
    else:
        outcome = tr("fetched") if queue else tr("not recorded")
    return tr("  seed       {url}: {fate}", url=page_url(seed["url"]), fate=outcome)


def cause(reason: str) -> str:
    """Return the description of an error's reason.

    >>> cause("cannot-resolve-host"), cause("http-500")
    ('the host name cannot be resolved (DNS)', 'http-500')
    """
    causes = {
        "cannot-resolve-host": tr("the host name cannot be resolved (DNS)"),
        "tls-failed": tr("the TLS connection failed"),
        "tunnel": tr("the proxy opened no connection for https"),
        "download-connection-refused": tr("the connection was refused"),
        "download-timeout": tr("no response in time"),
        "download-failed": tr("the connection was lost"),
        "http-401": tr("a login is required (401)"),
        "http-403": tr("the server refuses this crawler (403)"),
        "http-404": tr("the page does not exist (404)"),
        "http-407": tr(
            "the proxy requires a login (407): http_proxy=http://NAME:PASSWORD@HOST:PORT"
        ),
        "http-429": tr("the server limits requests (429)"),
        CHALLENGE: tr("the site checks whether its visitor is human"),
        "max-redirects": tr("too many redirects"),
        "private-address": tr("an address of this machine or of a private network"),
        "unsupported-urlscheme": tr("only HTTP proxies are supported: http_proxy=http://HOST:PORT"),
        "replaced": tr("another component answered with a request of its own, or refused it"),
        "crash": tr("the crawl's process was killed each time while it read the page"),
        "payload": tr("the spider no longer has the callback that was stored for it"),
        "robots": tr("its robots.txt excludes the page"),
        "robots-unavailable": tr("its robots.txt cannot be read (5xx)"),
    }
    return causes.get(reason, reason)


def advice(review: Mapping[str, Any]) -> list[str]:
    """Return what to try after a crawl that found nothing."""
    tips = []
    failed = [
        one
        for one in review["seeds"]
        if one["queue"] == "error" and not is_processing_error(one["reason"])
    ]
    if failed and len(failed) == len(review["seeds"]):
        tips.append(tr("other seeds: none of the given ones could be fetched"))
    if review["best"]:
        tips += _advice_on_pages(review)
    tips += [_advice_on_bare(url, feed=feed) for url, feed in review.get("bare", ())]
    if set(review["hosts"]).intersection(_NETWORK):
        if any(":" in host for host in review["hosts"].get("cannot-resolve-host", ())):
            resolver = "TWISTED_DNS_RESOLVER=scrapy.resolver.CachingHostnameResolver"
            tips.append(tr("{setting} for IPv6 addresses", setting=resolver))
        tips.append(tr("a check of the network, and of http_proxy, https_proxy and no_proxy"))
    return tips


def _advice_on_bare(url: str, *, feed: bool) -> str:
    """Return what to try for a page without links and almost without text."""
    if feed:
        return tr("discover=sitemap:{url}, since only news is read from a sitemap", url=url)
    return tr("TOPICCRAWL_JS=1 if scripts build {url}: it has no links and no text", url=url)


def _advice_on_pages(review: Mapping[str, Any]) -> list[str]:
    if not review["met"]:
        return [tr("seeds on the topic, or discover=searxng:URL: no term was found")]
    if max(one[0] for one in review["best"]) >= review["threshold"]:
        return [tr("more pages, or seeds closer to articles: no relevant page is an article")]
    tips = [tr("a lower thresholds.lower_limit in the topic file, if the best pages are relevant")]
    if review["never"]:
        tips.append(tr("synonyms of the terms not found, in the pages' language (a topic file)"))
    return tips

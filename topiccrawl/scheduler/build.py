"""Rules of a crawl from Scrapy settings: politeness, limits, hosts and URLs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from topiccrawl.errors import SettingError
from topiccrawl.frontier.contract import Limits, Politeness
from topiccrawl.links.addresses import AddressRules
from topiccrawl.links.hosts import HostRules, normalize_host
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.leases import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.topics.topic import Topic


MIN_SEEN_ERROR, MAX_SEEN_ERROR = 1e-6, 0.1
"""Range of the filters' error: with a smaller one, filters need more memory than they save."""


def check_settings(settings: BaseSettings) -> None:
    """Check all settings of the scheduler.

    Raises:
        SettingError: A setting cannot be used.
    """
    politeness_of(settings)
    limits_of(settings)
    retry_rules(settings)
    share_of(settings)
    slow_start_of(settings)


def politeness_of(settings: BaseSettings) -> Politeness:
    """Return the politeness rules from Scrapy's settings."""
    target = number(settings, "AUTOTHROTTLE_TARGET_CONCURRENCY")
    if not target:
        raise SettingError("AUTOTHROTTLE_TARGET_CONCURRENCY is 0: give a number above 0")
    return Politeness(
        delay=number(settings, "DOWNLOAD_DELAY"),
        jitter=_jitter(settings),
        concurrency=max(1, int(number(settings, "CONCURRENT_REQUESTS_PER_DOMAIN"))),
        adaptive=settings.getbool("AUTOTHROTTLE_ENABLED"),
        start_delay=number(settings, "AUTOTHROTTLE_START_DELAY"),
        max_delay=number(settings, "AUTOTHROTTLE_MAX_DELAY"),
        target_concurrency=target,
        hosts=dict(_slots(settings)),
        robots=settings.getbool("ROBOTSTXT_OBEY"),
        user_agent=settings.get("ROBOTSTXT_USER_AGENT") or settings["USER_AGENT"],
        own=frozenset(_hosts(settings, "TOPICCRAWL_OWN_HOSTS")),
        domain_concurrency=_domain_concurrency(settings),
    )


def _domain_concurrency(settings: BaseSettings) -> int:
    share = number(settings, "TOPICCRAWL_DOMAIN_SHARE")
    most = settings.getint("CONCURRENT_REQUESTS")
    return max(1, int(most * share)) if most and share else 0


def _hosts(settings: BaseSettings, name: str) -> Iterator[str]:
    """Yield the hosts that a setting lists."""
    for text in settings.getlist(name):
        host = normalize_host(text)
        if not host:
            raise SettingError(
                "{name}: {text!r} is not a host: write news.example.com, without port",
                name=name,
                text=text,
            )
        yield host


def max_retries(settings: BaseSettings) -> int:
    """Return the largest number of retries of a URL."""
    return int(number(settings, "RETRY_TIMES")) if settings.getbool("RETRY_ENABLED") else 0


def limits_of(settings: BaseSettings) -> Limits:
    """Return the limits from the settings."""
    return Limits(
        max_depth=int(number(settings, "DEPTH_LIMIT")),
        max_host_pages=int(number(settings, "TOPICCRAWL_HOST_PAGES")),
        max_attempts=max_retries(settings) + 1,
        max_queued=int(number(settings, "TOPICCRAWL_MAX_QUEUED")),
        max_known=int(number(settings, "TOPICCRAWL_MAX_KNOWN")),
        seen_error=_seen_error(settings),
        max_page_hosts=int(number(settings, "TOPICCRAWL_PAGE_HOSTS")),
        max_domain_hosts=int(number(settings, "TOPICCRAWL_DOMAIN_HOSTS")),
        max_hosts=int(number(settings, "TOPICCRAWL_HOSTS")),
    )


def _seen_error(settings: BaseSettings) -> float:
    error = number(settings, "TOPICCRAWL_SEEN_ERROR")
    if not MIN_SEEN_ERROR <= error <= MAX_SEEN_ERROR:
        raise SettingError(
            "TOPICCRAWL_SEEN_ERROR is {error:g}: give a share from 0.000001 to 0.1", error=error
        )
    return error


def slow_start_of(settings: BaseSettings) -> int:
    """Return the crawled pages for each further request at the start; 0 for no slow start."""
    return int(number(settings, "TOPICCRAWL_SLOW_START"))


def retry_rules(settings: BaseSettings) -> Retry:
    """Return the delays before failed URLs are retried."""
    return Retry(
        number(settings, "TOPICCRAWL_RETRY_DELAY"), number(settings, "TOPICCRAWL_RETRY_MAX_DELAY")
    )


def traps_of(settings: BaseSettings) -> TrapRules | None:
    """Return the thresholds of the trap rules, or None if they are off."""
    if not settings.getbool("TOPICCRAWL_TRAPS_ENABLED"):
        return None
    return TrapRules(
        max_length=settings.getint("URLLENGTH_LIMIT"),
        max_slashes=settings.getint("TOPICCRAWL_TRAP_SLASHES"),
        read=frozenset({"pdf"} if settings.getbool("TOPICCRAWL_PDF") else ()),
    )


def topic_rules(topic: Topic, addresses: AddressRules | None = None) -> HostRules:
    """Return a topic's rules of hosts and URLs."""
    return HostRules(topic.allowed_hosts, topic.denied_hosts, url_rules(topic), addresses)


def start_rules(topic: Topic, addresses: AddressRules | None = None) -> HostRules:
    """Return the rules of start URLs, which may be on hosts that are not crawled further."""
    return HostRules((), topic.denied_hosts, url_rules(topic), addresses)


def url_rules(topic: Topic) -> UrlRules | None:
    """Return a topic's include and exclude rules, or None if it has none."""
    given = topic.include or topic.exclude
    return UrlRules(topic.include, topic.exclude) if given else None


def addresses_of(
    settings: BaseSettings, allowed: Iterable[str] = (), count: Callable[[], None] = lambda: None
) -> AddressRules:
    """Return the rules of private addresses.

    Args:
        settings: Settings, which name hosts that may have private addresses.
        allowed: Further such hosts.
        count: Called for each refused request.
    """
    return AddressRules(
        [*allowed, *_hosts(settings, "TOPICCRAWL_OWN_HOSTS")],
        count,
        off=settings.getbool("TOPICCRAWL_PRIVATE_ADDRESSES"),
    )


def hosts_of(crawler: Crawler) -> HostRules:
    """Return the crawl's rules of hosts: the topic's, or else ``allowed_domains``.

    They are created once per crawl. Hosts that the operator named may have private addresses; start
    requests add further hosts.
    """
    context = context_of(crawler)
    if "hosts" not in vars(context):
        spider, topic = crawler.spider, context.spec.topic
        allowed = topic.allowed_hosts if topic else getattr(spider, "allowed_domains", None) or ()
        refused = partial(crawler.stats.inc_value, "topiccrawl/private_address")
        context.addresses = addresses_of(crawler.settings, allowed, refused)
        for url in topic.seeds if topic else getattr(spider, "start_urls", ()):
            context.addresses.allow_host(url)
        context.hosts = (
            topic_rules(topic, context.addresses)
            if topic
            else HostRules(allowed, (), addresses=context.addresses)
        )
    return context.hosts


def link_refusal(hosts: HostRules, settings: BaseSettings) -> Callable[[str], str | None]:
    """Return a function from URL to the reason why links to it are not followed, or None."""
    traps = traps_of(settings)
    return lambda url: hosts.refuse(url) or (trap(url, traps) if traps else None)


def share_of(settings: BaseSettings) -> tuple[int, int] | None:
    """Return the lanes' share (``"3:1"``), or None for the strategy's default."""
    text = settings.get("TOPICCRAWL_LANE_SHARE")
    if not text:
        return None
    prior, _, normal = str(text).partition(":")
    if prior.isdigit() and normal.isdigit() and int(prior) + int(normal) > 0:
        return int(prior), int(normal)
    raise SettingError(
        "TOPICCRAWL_LANE_SHARE is {text!r}: write two whole numbers, for example 1:1 or 9:1",
        text=text,
    )


def _jitter(settings: BaseSettings) -> float:
    """Return the jitter as a share of the delay; older Scrapy had RANDOMIZE_DOWNLOAD_DELAY."""
    older = settings.getpriority("RANDOMIZE_DOWNLOAD_DELAY") or 0
    if older > (settings.getpriority("DOWNLOAD_DELAY_JITTER") or 0):
        return 0.5 if settings.getbool("RANDOMIZE_DOWNLOAD_DELAY") else 0.0
    return number(settings, "DOWNLOAD_DELAY_JITTER")


def _slots(settings: BaseSettings) -> Iterator[tuple[str, tuple[float | None, int | None]]]:
    """Yield delays and concurrencies by host; slots whose names are not hosts match none."""
    for name, slot in settings.getdict("DOWNLOAD_SLOTS").items():
        yield normalize_host(name) or name, (slot.get("delay"), slot.get("concurrency"))

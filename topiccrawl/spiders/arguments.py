"""Spider arguments (``-a name=value``) and strategies' settings, checked before any request."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import ConfigurationError, SettingError, TopicError
from topiccrawl.links.hosts import HostRules, host_named
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.links.urls import canonical
from topiccrawl.scheduler.build import limits_of
from topiccrawl.scheduler.hooks import PREFIX, loaded, parameters_given

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy.settings import BaseSettings

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.adapter import TopicAdapter
    from topiccrawl.topics.topic import Topic

UNREAD: dict[str, Any] | None = {"WARN_ON_GENERATOR_RETURN_VALUE": False}
"""Of our spiders: Scrapy would read a callback's source for each answer (.5 ms) to look for it."""
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"", "0", "false", "no", "off"})


def flag(name: str, value: str) -> bool:
    """Return a yes-or-no argument.

    Raises:
        ConfigurationError: If it is neither.

    >>> flag("fresh", "1"), flag("fresh", "")
    (True, False)
    """
    if value.lower() in _YES | _NO:
        return value.lower() in _YES
    msg = f"argument {name} is {value!r}: write {name}=1 or {name}=0"
    raise ConfigurationError(msg)


def watch_mode(value: str) -> str:
    """Return how a crawl watches: "" (not at all), "once" or "on".

    Raises:
        ConfigurationError: If it is none of these.

    >>> watch_mode("1"), watch_mode("once"), watch_mode("0")
    ('on', 'once', '')
    """
    if value.lower() == "once":
        return "once"
    try:
        return "on" if flag("watch", value) else ""
    except ConfigurationError:
        msg = f"argument watch is {value!r}: write watch=1, watch=once or watch=0"
        raise ConfigurationError(msg) from None


def check_watch(settings: BaseSettings, value: str) -> None:
    """Refuse to watch pages whose records are evicted.

    Raises:
        SettingError: If both are asked for.
        ConfigurationError: As ``watch_mode``.
    """
    if watch_mode(value) and limits_of(settings).max_known:
        raise SettingError(
            f"TOPICCRAWL_MAX_KNOWN is {settings['TOPICCRAWL_MAX_KNOWN']}, which evicts the records"
            f" that -a watch={value} needs: set it to 0, or do not watch"
        )


def seeds_of(value: str) -> tuple[str, ...]:
    """Return the URLs of a comma-separated list, canonical, once each, order kept.

    Raises:
        ConfigurationError: If one is no http or https URL.

    >>> seeds_of("http://a.test, http://b.test/x#top,http://a.test/")
    ('http://a.test/', 'http://b.test/x')
    """
    seeds: dict[str, None] = {}
    for text in filter(None, map(str.strip, value.split(","))):
        url = canonical(text)
        if url is None:
            msg = f"argument seeds: {text!r} is no http or https URL; write https://host/path"
            raise ConfigurationError(msg)
        seeds[url] = None
    if not seeds:
        msg = "argument seeds names no URL: write seeds=https://host/path,https://other/path"
        raise ConfigurationError(msg)
    return tuple(seeds)


def hosts_in(value: str) -> tuple[str, ...]:
    """Return the hosts of a comma-separated list, once each, order kept.

    Raises:
        ConfigurationError: If one is no host.

    >>> hosts_in("a.test, B.test")
    ('a.test', 'b.test')
    """
    hosts: dict[str, None] = {}
    for text in filter(None, map(str.strip, value.split(","))):
        host = host_named(text)
        if not host:
            msg = f"argument sites: {text!r} is no host; write sites=a.cn,news.b.cn"
            raise ConfigurationError(msg)
        hosts[host] = None
    return tuple(hosts)


def on_sites(topic: Topic, sites: str, seeds: str) -> Topic:
    """Return the topic for some hosts and those below them; without seeds, it starts at each."""
    hosts = hosts_in(sites)
    if not hosts:
        return topic
    known = topic.seeds if seeds else tuple(f"https://{host}/" for host in hosts)
    return topic.model_copy(update={"allowed_hosts": hosts, "seeds": known})


def refuse_denied(topic: Topic) -> None:
    """Refuse seeds on hosts that the topic denies: one of the two is a mistake.

    Raises:
        TopicError: Naming the first one.
    """
    rules = HostRules((), topic.denied_hosts)
    for seed in topic.seeds:
        if rules.refuse(seed):
            msg = f"seed {seed}: its host is among denied_hosts; take it out of one of the two"
            raise TopicError(msg)


def refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse unknown arguments; names with a leading underscore are scrapyd's.

    Raises:
        ConfigurationError: Naming the first one, and what was probably meant.
    """
    names = list(known)
    for name in given:
        if name in names or name.startswith("_"):
            continue
        near = get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}"
        msg = f"unknown argument {name}: {hint}"
        raise ConfigurationError(msg)


def strategy_parameters(settings: BaseSettings, topic: Topic) -> StrategyParameters:
    """Return the strategies' numbers: defaults, then ``TOPICCRAWL_*`` settings, then the topic's.

    Raises:
        SettingError: If one is no number or out of its range.
    """
    given = parameters_given(settings, PREFIX, StrategyParameters)
    for name in ("anchor_threshold", "upper_limit", "min_prior", "min_normal"):
        own = getattr(topic.thresholds, name)
        if own is not None:
            given[name] = own
    return StrategyParameters(**given)


def adapter_of(
    settings: BaseSettings, scorer: Scorer, strategy: LinkStrategy
) -> TopicAdapter | None:
    """Return the adapter of the topic, None where it learns nothing.

    Raises:
        SettingError: If TOPICCRAWL_ADAPTER cannot be loaded, or a setting of it cannot be used.
    """
    given = settings["TOPICCRAWL_ADAPTER"]
    if not given:
        return None
    adapter: TopicAdapter | None = loaded("TOPICCRAWL_ADAPTER", given)(settings, scorer, strategy)
    return adapter

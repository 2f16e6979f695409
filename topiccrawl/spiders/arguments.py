"""Validation of spider arguments (``-a name=value``) and strategy settings before any request."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.errors import ConfigurationError, FieldError, SettingError, TopicError, translated
from topiccrawl.extract.genres import genres_named
from topiccrawl.links.hosts import normalize_host
from topiccrawl.links.strategies import LinkStrategy, strategy
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.links.urls import canonical
from topiccrawl.messages import Message, NameList, message
from topiccrawl.scheduler.build import check_settings, limits_of, start_rules
from topiccrawl.scheduler.checks import NO, YES, flag
from topiccrawl.scheduler.hooks import PREFIX, load_component, read_parameters
from topiccrawl.scheduler.starttime import check_since
from topiccrawl.spiders.discovering import Discovery
from topiccrawl.topics import Scorer, SiteWords
from topiccrawl.topics.marks import example_urls
from topiccrawl.topics.multitopic import MultiScorer, merge_topics, parse_topics
from topiccrawl.topics.topic import Topic, from_examples, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy.settings import BaseSettings

    from topiccrawl.topics.contract import RelevanceModel, TopicAdapter

ARGUMENTS = (
    "topic", "seeds", "fresh", "discover", "watch", "since", "sites", "like", "include", "exclude",
    "topics",
)  # fmt: skip
"""Arguments of the topic spider."""
NO_SOURCE_CHECK: dict[str, Any] | None = {"WARN_ON_GENERATOR_RETURN_VALUE": False}
"""Custom settings of our spiders. Scrapy's check reads the source of the callback for each response
(0.5 ms)."""
_REFUSED = {
    "host-denied": message("its host is in denied_hosts; remove the host there, or the seed"),
    "url-excluded": message("a pattern of exclude matches it; change the pattern or the seed"),
    "url-not-included": message("no pattern of include matches it; add one, such as its path"),
}
_USER = re.compile(r"(?:^|[,\s，、；])https?:[/\\]+[^/\\?#\s]*@", re.IGNORECASE)
_SEPARATOR = re.compile(r",|(?<![\s，、；])[\s，、；]++(?=https?://|,|$)", re.IGNORECASE)


class TopicPlan(NamedTuple):
    """Validated arguments of a topic crawl.

    Attributes:
        topic: The topic with its seeds; several topics are merged to one.
        scorer: Scorer by the words of the topic, or of several topics.
        strategy: Order of the links.
        discovery: Search for seeds, or None.
        fresh: Whether the frontier of earlier runs is deleted.
        watch: Watch mode, see ``watch_mode``.
    """

    topic: Topic
    scorer: Scorer | MultiScorer
    strategy: LinkStrategy
    discovery: Discovery | None
    fresh: bool
    watch: str


def as_texts(arguments: Mapping[str, object]) -> dict[str, str]:
    """Return arguments as on a command line; programs also pass flags, numbers, lists and paths.

    >>> as_texts({"watch": True, "seeds": ["http://a.test/", "http://b.test/"], "since": None})
    {'watch': 'True', 'seeds': 'http://a.test/,http://b.test/'}
    """
    return {
        name: ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in arguments.items()
        if value is not None
    }


def plan_of(settings: BaseSettings, arguments: Mapping[str, object]) -> TopicPlan:
    """Validate the arguments and the settings, and return the plan of the crawl.

    Raises:
        ConfigurationError: If an argument, the topic or a setting cannot be used.
    """
    refuse_unknown(arguments, ARGUMENTS)
    given = dict.fromkeys(ARGUMENTS, "") | as_texts(arguments)
    fresh, watch = flag("fresh", given["fresh"]), check_watch(settings, given["watch"])
    check_since(given["since"])
    check_settings(settings)
    genres_named(settings.getlist("TOPICCRAWL_GENRES"))
    topic = topic_of(given["topic"], given["like"], given["topics"])
    discovery = Discovery.of(settings, given["discover"], [topic.name])
    if given["seeds"]:
        topic = topic.model_copy(update={"seeds": seeds_of(given["seeds"])})
    topic = on_sites(topic, given["sites"], given["seeds"])
    topic = within(topic, given["include"], given["exclude"])
    refuse_denied(topic)
    scorer = scorer_of(settings, topic, given["topics"])
    parameters = strategy_parameters(settings, topic)
    order = strategy(settings["TOPICCRAWL_STRATEGY"], scorer, parameters)
    order.version = scorer.version
    searches = given["discover"] or not topic.seeds
    return TopicPlan(topic, scorer, order, discovery if searches else None, fresh, watch)


def watch_mode(value: str) -> str:
    """Parse the watch mode of a crawl: "" (off), "once" or "on".

    Raises:
        ConfigurationError: If the value is no watch mode.

    >>> watch_mode("1"), watch_mode("once"), watch_mode("0")
    ('on', 'once', '')
    """
    if value.lower() == "once":
        return "once"
    if value.lower() in YES | NO:
        return "on" if value.lower() in YES else ""
    raise ConfigurationError(
        "argument watch is {value!r}: write watch=1, watch=once or watch=0", value=value
    )


def check_watch(settings: BaseSettings, value: str) -> str:
    """Return the watch mode; reject watching together with the eviction of records.

    Raises:
        SettingError: If both are enabled.
        ConfigurationError: If the value is no watch mode.
    """
    mode = watch_mode(value)
    if mode and limits_of(settings).max_known:
        raise SettingError(
            "TOPICCRAWL_MAX_KNOWN is {topiccrawl_max_known}, which evicts "
            "the records that -a watch={value} needs: set it to 0, or remove "
            "the watch argument",
            topiccrawl_max_known=settings["TOPICCRAWL_MAX_KNOWN"],
            value=value,
        )
    return mode


def _parse_list(
    value: str, parse: Callable[[str], str | None], error: Message, name: str
) -> tuple[str, ...]:
    """Parse the parts of an argument; drop duplicates and keep the order.

    Parts are separated by commas, or by spaces or Chinese commas in front of a URL.
    """
    found: dict[str, None] = {}
    for text in filter(None, map(str.strip, _SEPARATOR.split(value))):
        parsed = parse(text)
        if not parsed:
            raise ConfigurationError(error, name=name, text=text)
        found[parsed] = None
    return tuple(found)


def seeds_of(value: str, name: str = "seeds") -> tuple[str, ...]:
    """Return the distinct canonical URLs of an argument, in their order.

    Raises:
        ConfigurationError: If a part is not an http or https URL or has a user name, or there is no
            URL.

    >>> seeds_of("http://a.test, http://b.test/x#top http://c.test/，http://a.test/")
    ('http://a.test/', 'http://b.test/x', 'http://c.test/')
    """
    if _USER.search(value):
        raise ConfigurationError(
            "argument {name}: a URL has a user name or a password, which is not sent: remove it, "
            "and set HTTPAUTH_USER, HTTPAUTH_PASS and HTTPAUTH_DOMAIN", name=name,
        )  # fmt: skip
    error = message(
        "argument {name}: {text!r} is not an HTTP URL; write https://host/path, and %2C for a comma"
    )
    seeds = _parse_list(value, canonical, error, name)
    if not seeds:
        raise ConfigurationError(
            "argument {name} has no URL: write {name}=https://host/path,https://other/path",
            name=name,
        )
    return seeds


def topic_of(text: str, like: str, several: str = "") -> Topic:
    """Build the topic of a crawl from its arguments.

    Args:
        text: Words, a sentence, the name of a topic or a path to a topic file.
        like: URLs of pages on topic, separated by commas.
        several: Several topics, in place of ``text`` and ``like``; see ``topics.multitopic``.

    Raises:
        ConfigurationError: If all arguments are empty, or one cannot be used.
    """
    if several:
        if text.strip() or like:
            raise TopicError("argument topics cannot be combined with topic or like: remove them")
        return merge_topics(parse_topics(several))
    examples = seeds_of(like, "like") if like else ()
    if text.strip():
        topic = resolve(text)
        return topic.model_copy(update={"examples": (*topic.examples, *examples)})
    if not examples:
        raise TopicError("no topic: give -a topic=WORDS, a sentence, or a path to a topic file")
    return from_examples(examples)


def scorer_of(settings: BaseSettings, topic: Topic, several: str = "") -> Scorer | MultiScorer:
    """Return the scorer of a topic; with ``several``, a scorer of several topics."""
    by_site = settings.getbool("TOPICCRAWL_SITE_WORDS")
    if several:
        return MultiScorer(parse_topics(several), by_site=by_site)
    return Scorer(topic, sites=SiteWords() if by_site else None)


def judges_of(settings: Mapping[str, Any], scorer: Scorer | MultiScorer) -> list[RelevanceModel]:
    """Return the relevance model of each topic.

    It is the model of TOPICCRAWL_RELEVANCE, or the scorer of the topic if the setting is empty. A
    scorer of several topics uses the returned list.

    Raises:
        SettingError: If TOPICCRAWL_RELEVANCE cannot be loaded.
    """
    path = settings.get("TOPICCRAWL_RELEVANCE")
    judge = load_component("TOPICCRAWL_RELEVANCE", path) if path else lambda _settings, words: words
    if not isinstance(scorer, MultiScorer):
        return [judge(settings, scorer)]
    scorer.judges[:] = [judge(settings, words) for words in scorer.scorers]
    return scorer.judges


def on_sites(topic: Topic, sites: str, seeds: str) -> Topic:
    """Restrict a topic to hosts and their subdomains; without seeds, start at their home pages.

    Raises:
        ConfigurationError: If a part of ``sites`` is not a host.

    >>> on_sites(resolve("足球"), "a.test, B.test", "").seeds
    ('https://a.test/', 'https://b.test/')
    """
    error = message("argument sites: {text!r} is not a host; write sites=a.cn,news.b.cn")
    hosts = _parse_list(sites, normalize_host, error, "sites")
    if not hosts:
        return topic
    known = topic.seeds if seeds else tuple(f"https://{host}/" for host in hosts)
    return topic.model_copy(update={"allowed_hosts": hosts, "seeds": known})


def within(topic: Topic, include: str, exclude: str) -> Topic:
    """Add URL patterns, separated by commas, to a topic.

    Raises:
        ConfigurationError: If a part is not a pattern.
    """
    given = {"include": include, "exclude": exclude}
    patterns = {
        name: (*getattr(topic, name), *filter(None, map(str.strip, value.split(","))))
        for name, value in given.items()
    }
    invalid = message("arguments include and exclude: {error}")
    with translated(ConfigurationError, invalid, (FieldError,)):
        UrlRules(**patterns)
    return topic.model_copy(update=patterns)


def refuse_denied(topic: Topic) -> None:
    """Reject seeds that the host and URL rules of their topic exclude.

    Raises:
        TopicError: If a rule excludes a seed; it names the first one.
    """
    rules = start_rules(topic)
    for seed in (*topic.seeds, *(url for url, _ in example_urls(topic))):
        if reason := rules.refuse(seed):
            raise TopicError("seed {seed}: {value}", seed=seed, value=_REFUSED[reason])


def refuse_unknown(given: Iterable[str], known: Iterable[str]) -> None:
    """Reject unknown arguments; scrapyd adds names with a leading underscore, which are ignored.

    Raises:
        ConfigurationError: If a name is unknown; it names the first one and suggests another.
    """
    names = list(known)
    for name in given:
        if name in names or name.startswith("_"):
            continue
        near = get_close_matches(name, names, 1)
        hint = (
            ConfigurationError("did you mean {near}?", near=near[0])
            if near
            else ConfigurationError("known are {names}", names=NameList(names))
        )
        raise ConfigurationError("unknown argument {name}: {hint}", name=name, hint=hint)


def strategy_parameters(settings: BaseSettings, topic: Topic) -> StrategyParameters:
    """Return the parameters of the link strategies.

    Thresholds of the topic override ``TOPICCRAWL_*`` settings, which override the defaults.

    Raises:
        SettingError: If a value is not a number, or is out of range.
    """
    given = read_parameters(settings, PREFIX, StrategyParameters)
    for name in ("anchor_threshold", "upper_limit", "min_prior", "min_normal"):
        own = getattr(topic.thresholds, name)
        if own is not None:
            names = (name, f"plus_{name}")
            given |= {one: own for one in names if hasattr(StrategyParameters, one)}
    return StrategyParameters(**given)


def adapter_of(
    settings: BaseSettings, scorer: Scorer, strategy: LinkStrategy
) -> TopicAdapter | None:
    """Return the adapter of the topic, or None if TOPICCRAWL_ADAPTER is empty.

    Raises:
        SettingError: If TOPICCRAWL_ADAPTER cannot be loaded, or its settings cannot be used.
    """
    given = settings["TOPICCRAWL_ADAPTER"]
    if not given:
        return None
    build = load_component("TOPICCRAWL_ADAPTER", given)
    adapter: TopicAdapter | None = build(settings, scorer, strategy)
    return adapter

"""Spider arguments (``-a name=value``) and strategies' settings, checked before any request."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import ConfigurationError, FieldError, SettingError, TopicError
from topiccrawl.links.hosts import normalize_host
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.links.urls import canonical
from topiccrawl.messages import Message, message
from topiccrawl.scheduler.build import limits_of, start_rules
from topiccrawl.scheduler.hooks import PREFIX, loaded, parameters_given
from topiccrawl.topics import Scorer, SiteWords
from topiccrawl.topics.examples import example_urls
from topiccrawl.topics.multitopic import MultiScorer, merge_topics, parse_topics
from topiccrawl.topics.topic import Topic, from_examples, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy.settings import BaseSettings

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.topics.adapter import TopicAdapter
    from topiccrawl.topics.contract import RelevanceModel

UNREAD: dict[str, Any] | None = {"WARN_ON_GENERATOR_RETURN_VALUE": False}
"""Of our spiders: Scrapy would read a callback's source for each answer (.5 ms) to look for it."""
_YES = frozenset({"1", "true", "yes", "on"})
_REFUSED = {
    "host-denied": message("its host is among denied_hosts; take it out of one of the two"),
    "url-excluded": message("a pattern of exclude refuses it; change one of the two"),
    "url-not-included": message("no pattern of include allows it; add one, such as its own path"),
}
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
    raise ConfigurationError(
        "argument {name} is {value!r}: write {name}=1 or {name}=0", name=name, value=value
    )


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
        raise ConfigurationError(
            "argument watch is {value!r}: write watch=1, watch=once or watch=0", value=value
        ) from None


def check_watch(settings: BaseSettings, value: str) -> None:
    """Refuse to watch pages whose records are evicted.

    Raises:
        SettingError: If both are asked for.
        ConfigurationError: As ``watch_mode``.
    """
    if watch_mode(value) and limits_of(settings).max_known:
        raise SettingError(
            "TOPICCRAWL_MAX_KNOWN is {topiccrawl_max_known}, which evicts "
            "the records that -a watch={value} needs: set it to 0, or do not "
            "watch",
            topiccrawl_max_known=settings["TOPICCRAWL_MAX_KNOWN"],
            value=value,
        )


def _each(
    value: str, read: Callable[[str], str | None], wrong: Message, name: str
) -> tuple[str, ...]:
    """Return the parts of a comma-separated argument as read, once each, order kept."""
    found: dict[str, None] = {}
    for text in filter(None, map(str.strip, value.split(","))):
        one = read(text)
        if not one:
            raise ConfigurationError(wrong, name=name, text=text)
        found[one] = None
    return tuple(found)


def seeds_of(value: str, name: str = "seeds") -> tuple[str, ...]:
    """Return the URLs of a comma-separated argument, canonical, once each, order kept.

    Raises:
        ConfigurationError: If one is no http or https URL.

    >>> seeds_of("http://a.test, http://b.test/x#top,http://a.test/")
    ('http://a.test/', 'http://b.test/x')
    """
    wrong = message("argument {name}: {text!r} is no http or https URL; write https://host/path")
    seeds = _each(value, canonical, wrong, name)
    if not seeds:
        raise ConfigurationError(
            "argument {name} names no URL: write {name}=https://host/path,https://other/path",
            name=name,
        )
    return seeds


def topic_of(text: str, like: str, several: str = "") -> Topic:
    """Return the topic that a text and examples' URLs, separated by commas, mean.

    Args:
        text: Words, a sentence, a name or a file.
        like: URLs of pages on topic.
        several: Topics instead of both, see ``topiccrawl.topics.multitopic``.

    Raises:
        ConfigurationError: If there is neither, or one of them cannot be used.
    """
    if several:
        if text.strip() or like:
            raise TopicError("argument topics stands alone: leave topic and like out")
        return merge_topics(parse_topics(several))
    examples = seeds_of(like, "like") if like else ()
    if text.strip():
        topic = resolve(text)
        return topic.model_copy(update={"examples": (*topic.examples, *examples)})
    if not examples:
        raise TopicError("no topic: give -a topic=WORDS, a sentence, or a path to a topic file")
    return from_examples(examples)


def scorer_of(settings: BaseSettings, topic: Topic, several: str = "") -> Scorer | MultiScorer:
    """Return the scorer of a topic, or of several."""
    by_site = settings.getbool("TOPICCRAWL_SITE_WORDS")
    if several:
        return MultiScorer(parse_topics(several), by_site=by_site)
    return Scorer(topic, sites=SiteWords() if by_site else None)


def judges_of(settings: Mapping[str, Any], scorer: Scorer | MultiScorer) -> list[RelevanceModel]:
    """Return the judge of each topic: the setting's, else its scorer; those that a scorer uses.

    Raises:
        SettingError: TOPICCRAWL_RELEVANCE cannot be loaded.
    """
    own = settings.get("TOPICCRAWL_RELEVANCE")
    judge = loaded("TOPICCRAWL_RELEVANCE", own) if own else lambda _settings, one: one
    if not isinstance(scorer, MultiScorer):
        return [judge(settings, scorer)]
    scorer.judges[:] = [judge(settings, one) for one in scorer.scorers]
    return scorer.judges


def hosts_in(value: str) -> tuple[str, ...]:
    """Return the hosts of a comma-separated list, once each, order kept.

    Raises:
        ConfigurationError: If one is no host.

    >>> hosts_in("a.test, B.test")
    ('a.test', 'b.test')
    """
    wrong = message("argument sites: {text!r} is no host; write sites=a.cn,news.b.cn")
    return _each(value, normalize_host, wrong, "sites")


def on_sites(topic: Topic, sites: str, seeds: str) -> Topic:
    """Return the topic for some hosts and those below them; without seeds, it starts at each."""
    hosts = hosts_in(sites)
    if not hosts:
        return topic
    known = topic.seeds if seeds else tuple(f"https://{host}/" for host in hosts)
    return topic.model_copy(update={"allowed_hosts": hosts, "seeds": known})


def within(topic: Topic, include: str, exclude: str) -> Topic:
    """Return the topic with further patterns of URLs, separated by commas.

    Raises:
        ConfigurationError: If one is no pattern.
    """
    given = {"include": include, "exclude": exclude}
    patterns = {
        name: (*getattr(topic, name), *filter(None, map(str.strip, value.split(","))))
        for name, value in given.items()
    }
    try:
        UrlRules(**patterns)
    except FieldError as error:
        raise ConfigurationError("arguments include and exclude: {error}", error=error) from error
    return topic.model_copy(update=patterns)


def refuse_denied(topic: Topic) -> None:
    """Refuse seeds that the topic's rules of hosts and URLs refuse: one of both is a mistake.

    Raises:
        TopicError: Naming the first one.
    """
    rules = start_rules(topic)
    for seed in (*topic.seeds, *(url for url, _ in example_urls(topic))):
        if reason := rules.refuse(seed):
            raise TopicError("seed {seed}: {value}", seed=seed, value=_REFUSED[reason])


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
        hint = (
            ConfigurationError("did you mean {near}?", near=near[0])
            if near
            else ConfigurationError("known are {names}", names=", ".join(names))
        )
        raise ConfigurationError("unknown argument {name}: {hint}", name=name, hint=hint)


def strategy_parameters(settings: BaseSettings, topic: Topic) -> StrategyParameters:
    """Return the strategies' numbers: defaults, then ``TOPICCRAWL_*`` settings, then the topic's.

    Raises:
        SettingError: If one is no number or out of its range.
    """
    given = parameters_given(settings, PREFIX, StrategyParameters)
    for name in ("anchor_threshold", "upper_limit", "min_prior", "min_normal"):
        own = getattr(topic.thresholds, name)
        if own is not None:
            names = (name, f"plus_{name}")
            given |= {one: own for one in names if hasattr(StrategyParameters, one)}
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

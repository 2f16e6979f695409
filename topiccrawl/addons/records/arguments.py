"""Arguments of the template spider, checked before any request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from topiccrawl.addons.records.periods.periods import Period, Periods, Phase
from topiccrawl.addons.records.periods.seeds import Manner
from topiccrawl.addons.records.templates.template import Template, resolve
from topiccrawl.discovery.custom import CustomEngine, Engine
from topiccrawl.discovery.factory import NAMES, provider_of, providers_of
from topiccrawl.errors import (
    ConfigurationError,
    SettingError,
    StateError,
    StorageError,
    TemplateError,
)
from topiccrawl.scheduler.build import check_settings
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.starttime import check_since
from topiccrawl.spiders.arguments import flag, refuse_unknown, seeds_of
from topiccrawl.spiders.discovering import Discovery
from topiccrawl.storage.factory import run_in_thread, storage_of
from topiccrawl.storage.redis_address import in_redis

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

    from topiccrawl.discovery.contract import SeedProvider

ARGUMENTS = ("template", "discover", "seeds", "chance", "fresh", "since")


@dataclass(frozen=True)
class Plan:
    """Arguments of a template crawl, checked and resolved.

    Attributes:
        template: The template to crawl.
        seeds: URLs to begin with.
        discovery: Search for further seeds, or None.
        chance: Whether seeds are drawn by their probability.
        number: Number of the period to begin or continue.
    """

    template: Template
    seeds: tuple[str, ...]
    discovery: Discovery | None
    chance: bool
    number: int

    @property
    def crawl_name(self) -> str:
        """Name of the period's frontier: each period has its own."""
        return self._name(self.number)

    @property
    def former(self) -> tuple[str, ...]:
        """Names of frontiers that are of no more use: the last one stays, for ``scrapy why``."""
        return tuple(
            self._name(number) for number in range(max(1, self.number - 5), self.number - 1)
        )

    def _name(self, number: int) -> str:
        return f"template-{self.template.slug}-{number}"


def plan_of(settings: BaseSettings, arguments: Mapping[str, str]) -> Plan:
    """Return the plan that the arguments give.

    Raises:
        ConfigurationError: If one of them, the template or a setting cannot be used.
    """
    refuse_unknown(arguments, ARGUMENTS)
    check_since(arguments.get("since", ""))
    check_settings(settings)
    _alone(settings)
    name = arguments.get("template", "").strip()
    if not name:
        raise TemplateError("no template: give -a template=NAME, or a path that ends in .toml")
    template = resolve(name)
    seeds = arguments.get("seeds", "")
    begin = (*(seeds_of(seeds) if seeds else ()), *template.seeds)
    discovery = _discovery(settings, template, arguments.get("discover", ""))
    if discovery is None and not begin:
        raise ConfigurationError(
            "template {name!r}: nowhere to search for {query!r}: give"
            " -a discover=searxng:http://localhost:8888 (docs/discovery.md), or seeds=URL,URL",
            name=template.name,
            query=template.search.queries[0],
            public=f"template {template.name!r}: nowhere to search: give discover, or seeds",
        )
    fresh = flag("fresh", arguments.get("fresh", ""))
    chance = flag("chance", arguments.get("chance", "1"))
    manner_of(settings, chance=chance)
    return Plan(
        template,
        tuple(dict.fromkeys(begin)),
        discovery,
        chance,
        _number(settings, template, fresh=fresh),
    )


def crawl_of(settings: BaseSettings, name: str) -> str:
    """Name of the crawl of a template: of the period that is open, else of the next one.

    Raises:
        ConfigurationError: There is no such template, or its periods cannot be read.
    """
    template = resolve(name)
    number = _number(settings, template, fresh=False)
    return Plan(template, (), None, chance=True, number=number).crawl_name


def manner_of(settings: BaseSettings, *, chance: bool) -> Manner:
    """Return the rules by which seeds are drawn.

    Raises:
        SettingError: A number cannot be used.
    """
    at_once = int(number(settings, "TOPICCRAWL_SEEDS_AT_ONCE"))
    if at_once < 1:
        raise SettingError("TOPICCRAWL_SEEDS_AT_ONCE is 0: give a whole number above 0")
    return Manner(at_once, chance, int(number(settings, "TOPICCRAWL_SEED_LUCK")))


def _alone(settings: BaseSettings) -> None:
    """Refuse what a template crawl cannot use: it is conducted by one process at a time."""
    if in_redis(settings) and not settings.getbool("TOPICCRAWL_TURN"):
        raise SettingError(
            "REDIS_URL is set, but a template is crawled by one process at a "
            "time: -s REDIS_URL= for this crawl, or let workers see to that: "
            "scrapy tasks create --template NAME"
        )
    if settings.get("JOBDIR"):
        raise SettingError(
            "JOBDIR is set, but a template crawl keeps its periods in "
            "TOPICCRAWL_DATA_DIR and goes on by itself: leave it out"
        )


def _discovery(settings: BaseSettings, template: Template, asked: str) -> Discovery | None:
    """Return the search: of the argument, else the template's providers, else the setting."""
    queries, pages = template.search.queries, template.limits.result_pages
    if asked or not template.providers:
        spec = asked or settings.get("TOPICCRAWL_DISCOVER") or ""
        providers = providers_of(spec)
    else:
        providers = tuple(_provider(template, one) for one in template.providers)
    searched = [one for one in providers if not one.searches or queries]
    return Discovery(searched, queries, pages) if searched else None


def _provider(template: Template, given: str | Mapping[str, Any]) -> SeedProvider:
    """A provider as a template file names it.

    ``"bing"``, ``{ searxng = "http://..." }``, or a table with the fields of a configured engine.
    """
    public = f"template {template.name!r}: its providers cannot be used"
    try:
        if isinstance(given, str):
            return provider_of(given)
        name, rest = next(iter(given.items()), ("", ""))
        if len(given) == 1 and (name in NAMES or "." in name):
            return provider_of(f"{name}:{rest}")
        return CustomEngine(Engine.model_validate(given))
    except ConfigurationError as error:
        raise TemplateError(str(error), public=public) from error
    except ValidationError as error:
        lines = [f"providers: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise TemplateError("\n".join(lines), public=public) from error


def _number(settings: BaseSettings, template: Template, *, fresh: bool) -> int:
    """Number of the period: the last one's unless it is finished."""
    try:
        last = run_in_thread(last_period(settings, template.name))
    except (StateError, StorageError) as error:
        raise ConfigurationError(str(error)) from error
    if last is None:
        return 1
    return last.number + 1 if fresh or last.phase is Phase.FINISHED else last.number


async def last_period(settings: BaseSettings, name: str) -> Period | None:
    """Return the period of a template that began last."""
    async with Periods(storage_of(settings)) as periods:
        return await periods.last(name)

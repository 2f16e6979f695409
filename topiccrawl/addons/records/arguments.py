"""Arguments of the template spider, validated before the first request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from topiccrawl.addons.records.periods.periods import Period, Periods, Phase
from topiccrawl.addons.records.periods.seeds import SamplingRules
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
from topiccrawl.scheduler.checks import check_count, flag
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.starttime import check_since
from topiccrawl.spiders.arguments import as_texts, refuse_unknown, seeds_of
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
    """Validated arguments of a template crawl.

    Attributes:
        template: The template to crawl.
        seeds: Seed URLs.
        discovery: Search for further seeds, or None.
        rules: Rules by which seeds are sampled.
        number: Number of the period to start or to continue.
    """

    template: Template
    seeds: tuple[str, ...]
    discovery: Discovery | None
    rules: SamplingRules
    number: int

    @property
    def crawl_name(self) -> str:
        """Name of the frontier; each period has its own."""
        return _crawl_name(self.template, self.number)

    @property
    def obsolete_crawls(self) -> tuple[str, ...]:
        """Names of earlier frontiers to delete; the latest is kept for ``scrapy why``."""
        numbers = range(max(1, self.number - 5), self.number - 1)
        return tuple(_crawl_name(self.template, number) for number in numbers)


def _crawl_name(template: Template, number: int) -> str:
    return f"template-{template.slug}-{number}"


def plan_of(settings: BaseSettings, values: Mapping[str, object]) -> Plan:
    """Validate the arguments and return the plan of the crawl.

    Raises:
        ConfigurationError: If an argument, the template or a setting is invalid.
    """
    arguments = as_texts(values)
    refuse_unknown(arguments, ARGUMENTS)
    check_since(arguments.get("since", ""))
    check_settings(settings)
    _check_single_process(settings)
    name = arguments.get("template", "").strip()
    if not name:
        raise TemplateError("no template given: pass -a template=NAME, or a path ending in .toml")
    template = resolve(name)
    seeds = arguments.get("seeds", "")
    begin = (*(seeds_of(seeds) if seeds else ()), *template.seeds)
    discovery = _discovery(settings, template, arguments.get("discover", ""))
    if discovery is None and not begin:
        raise ConfigurationError(
            "template {name!r}: no seed provider to search for {query!r}: pass"
            " -a discover=searxng:http://localhost:8888 (docs/discovery.md), or seeds=URL,URL",
            name=template.name,
            query=template.search.queries[0],
            public=f"template {template.name!r}: no seed provider: pass discover or seeds",
        )
    fresh = flag("fresh", arguments.get("fresh", ""))
    rules = _sampling_rules(settings, chance=flag("chance", arguments.get("chance", "1")))
    number = _period_number(settings, template, fresh=fresh)
    return Plan(template, tuple(dict.fromkeys(begin)), discovery, rules, number)


def crawl_of(settings: BaseSettings, name: str) -> str:
    """Return the crawl name of a template's open period, or of the next one if none is open.

    Raises:
        ConfigurationError: If there is no such template, or its periods cannot be read.
    """
    template = resolve(name)
    return _crawl_name(template, _period_number(settings, template, fresh=False))


def _sampling_rules(settings: BaseSettings, *, chance: bool) -> SamplingRules:
    """Return the rules by which seeds are sampled; raise SettingError for a wrong setting."""
    check_count(settings, "TOPICCRAWL_SEEDS_AT_ONCE")
    concurrency = settings.getint("TOPICCRAWL_SEEDS_AT_ONCE")
    return SamplingRules(concurrency, chance, int(number(settings, "TOPICCRAWL_SEED_LUCK")))


def _check_single_process(settings: BaseSettings) -> None:
    """Raise SettingError for settings that a single-process crawl does not support."""
    if in_redis(settings) and not settings.getbool("TOPICCRAWL_TURN"):
        raise SettingError(
            "REDIS_URL is set, but only one process at a time can crawl a template: "
            "pass -s REDIS_URL= for this crawl, or create a task for workers: "
            "topiccrawl tasks create --template NAME"
        )
    if settings.get("JOBDIR"):
        raise SettingError(
            "JOBDIR is set, but a template crawl stores its state in "
            "TOPICCRAWL_DATA_DIR and resumes from there: remove JOBDIR"
        )


def _discovery(settings: BaseSettings, template: Template, asked: str) -> Discovery | None:
    """Return the search by the argument, the template's providers or the setting, in this order."""
    queries, pages = template.search.queries, template.limits.result_pages
    if asked or not template.providers:
        spec = asked or settings.get("TOPICCRAWL_DISCOVER") or ""
        providers = providers_of(spec)
    else:
        providers = tuple(_provider(template, one) for one in template.providers)
    searched = [one for one in providers if not one.searches or queries]
    return Discovery(searched, queries, pages) if searched else None


def _provider(template: Template, given: str | Mapping[str, Any]) -> SeedProvider:
    """Return a seed provider for its entry in a template file.

    An entry is ``"bing"``, ``{ searxng = "http://..." }``, or a table with the fields of a
    configured engine.
    """
    public = f"template {template.name!r}: its providers are invalid"
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


def _period_number(settings: BaseSettings, template: Template, *, fresh: bool) -> int:
    """Return the number of the period: the last one, or the next if that has finished."""
    try:
        last = run_in_thread(last_period(settings, template.name))
    except (StateError, StorageError) as error:
        raise ConfigurationError(str(error)) from error
    if last is None:
        return 1
    return last.number + 1 if fresh or last.phase is Phase.FINISHED else last.number


async def last_period(settings: BaseSettings, name: str) -> Period | None:
    """Return the latest period of a template, or None."""
    async with Periods(storage_of(settings)) as periods:
        return await periods.last(name)

"""Settings that name components or numbers, and checks that Scrapy's hooks have our components."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any

from scrapy.spiderloader import get_spider_loader
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name
from twisted.internet.asyncioreactor import AsyncioSelectorReactor

from topiccrawl import settings as project
from topiccrawl.errors import ConfigurationError, SettingError, translated
from topiccrawl.messages import NameList, message

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PREFIX = "TOPICCRAWL_"
"""Prefix of the project's settings and of those that are ``StrategyParameters``."""
LEASE = "topiccrawl.middlewares.lease.LeaseMiddleware"
"""Middleware without which no page is settled: links and acknowledgement wait for its reports."""
_REPLACED = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": "ROBOTSTXT_OBEY",
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": "RETRY_ENABLED",
    "scrapy.extensions.throttle.AutoThrottle": "AUTOTHROTTLE_ENABLED",
}
"""Components of Scrapy that the frontier replaces, and the settings that control both."""
_NOT_LOADED = (ImportError, NameError, TypeError, ValueError)
_HOOKS = ("ADDONS", "SPIDER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")


def check_parts(settings: BaseSettings) -> None:
    """Refuse settings with which no spider can crawl on the frontier.

    Raises:
        SettingError: Names the setting, the component and the remedy.
    """
    if _parts(settings, "SPIDER_MIDDLEWARES").get(LEASE) is None:
        raise _missing_part("SPIDER_MIDDLEWARES", LEASE)
    for hook in ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS"):
        given = _parts(settings, hook)
        for part, switch in _REPLACED.items():
            if settings.getbool(switch) and given.get(part) is not None:
                raise SettingError(
                    "{hook} enables {part}, which the frontier replaces: add {part!r}: None",
                    hook=hook, part=part,
                )  # fmt: skip
    reactor = settings["TWISTED_REACTOR"]  # None: the user installs one
    if reactor is not None and not (
        reactor and AsyncioSelectorReactor in _bases("TWISTED_REACTOR", reactor)
    ):
        raise SettingError(
            "TWISTED_REACTOR is {reactor!r}, but the frontier needs asyncio: leave it out",
            reactor=reactor,
        )


def check_hooks(settings: BaseSettings) -> None:
    """Refuse another scheduler than ours, and settings that lack components of our spiders.

    None instead of an order disables a component.

    Raises:
        SettingError: Names the setting and the remedy.
    """
    if "TOPICCRAWL_DATA_DIR" not in settings:
        raise SettingError(
            "the settings do not load topiccrawl: add ADDONS = {addon}",
            addon='{"topiccrawl.Addon": 100}',
        )
    if not uses_frontier(settings):
        raise SettingError(
            "SCHEDULER is {given!r}, but this spider needs the frontier: "
            "leave it out, or write {scheduler!r}",
            given=settings["SCHEDULER"],
            scheduler=project.SCHEDULER,
        )
    check_parts(settings)
    for hook in _HOOKS:
        given = _parts(settings, hook)
        for part in getattr(project, hook):
            if part not in given:
                raise _missing_part(hook, part)


def uses_frontier(settings: BaseSettings) -> bool:
    """Check whether crawls with these settings use the frontier, not another scheduler.

    Scrapy lets any class with the right methods count as a subclass of a scheduler.

    Raises:
        SettingError: SCHEDULER cannot be loaded.
    """
    ours = load_component("SCHEDULER", project.SCHEDULER)
    return ours in _bases("SCHEDULER", settings["SCHEDULER"])


def load_component(name: str, path: str) -> Any:  # noqa: ANN401 - whatever it names
    """Return the class or function that a setting names by its dotted path.

    Raises:
        SettingError: It cannot be loaded, or is neither.
    """
    text = message("{name} is {path!r}, which cannot be loaded: {error}")
    with translated(SettingError, text, _NOT_LOADED, name=name, path=path):
        return _load(path)


def _bases(name: str, path: str) -> tuple[type, ...]:
    """Return the class that a setting names and its bases; nothing for a function."""
    return getattr(load_component(name, path), "__mro__", ())


def _load(path: str) -> Any:  # noqa: ANN401 - see load_component
    found = load_object(path)
    if not callable(found):
        raise TypeError(f"a {type(found).__name__} is no class or function")
    return found


def components(settings: BaseSettings, name: str) -> list[Any]:
    """Return the objects that a setting names by dotted paths, in order; None disables one.

    Raises:
        SettingError: The setting has another form, or an object cannot be loaded.
    """
    text = message("{name} is {value!r}: map dotted paths of functions to their order: {error}")
    with translated(SettingError, text, _NOT_LOADED, name=name, value=settings[name]):
        return [_load(path) for path in build_component_list(settings.getdict(name))]


def spider_class(settings: BaseSettings, name: str) -> Any:  # noqa: ANN401 - the project's
    """Return the spider class of a name.

    Raises:
        ConfigurationError: The project has no such spider.
    """
    loader = get_spider_loader(settings)
    if name not in loader.list():
        raise ConfigurationError(
            "there is no spider {name!r}: SPIDER_MODULES has {choices}",
            name=name,
            choices=NameList(sorted(loader.list())),
        )
    return loader.load(name)


def parameter_settings(prefix: str, kind: type[Any]) -> dict[str, Field[Any]]:
    """Return the fields of a dataclass of parameters by the names of their settings.

    >>> from topiccrawl.links.strategies.parameters import StrategyParameters
    >>> list(parameter_settings(PREFIX, StrategyParameters))[:1]
    ['TOPICCRAWL_SHARK_DECAY']
    """
    return {f"{prefix}{field.name.upper()}": field for field in fields(kind)}


def read_parameters(settings: BaseSettings, prefix: str, kind: type[Any]) -> dict[str, Any]:
    """Return the parameters of a dataclass that the settings give, with the types of the defaults.

    Raises:
        SettingError: One is not a number, or not a flag.
    """
    read = {bool: flag_of, int: lambda *given: int(number(*given)), float: number}
    return {
        field.name: read[type(field.default)](settings, name)
        for name, field in parameter_settings(prefix, kind).items()
        if settings.get(name) is not None
    }


def number(settings: BaseSettings, name: str) -> float:
    """Return a setting that is a number, at least 0.

    Raises:
        SettingError: It is not such a number.
    """
    value, text = settings.get(name), message("{name} is {value!r}: give a number, 0 or larger")
    with translated(SettingError, text, (TypeError, ValueError), name=name, value=value):
        result = float(value)
        if not 0 <= result < float("inf"):
            raise ValueError(result)
        return result


def flag_of(settings: BaseSettings, name: str) -> bool:
    """Return a boolean setting.

    Raises:
        SettingError: It is not a boolean.
    """
    text = message("{name} is {value!r}: write 1 or 0")
    with translated(SettingError, text, (ValueError,), name=name, value=settings[name]):
        return settings.getbool(name)


def _parts(settings: BaseSettings, hook: str) -> dict[str, Any]:
    """Return the components of a hook with their order (None: off) by full name."""
    given = {**(settings.get(f"{hook}_BASE") or {}), **(settings[hook] or {})}
    return {
        part if isinstance(part, str) else global_object_name(part): given[part] for part in given
    }


def _missing_part(hook: str, part: str) -> SettingError:
    return SettingError(
        "{hook} lacks {part}: write {hook} = {{**topiccrawl.settings.{hook}, ...}} to extend it",
        hook=hook,
        part=part,
    )

"""Are our parts on Scrapy's hooks? A project that replaces a dictionary of them drops ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.utils.python import global_object_name

from topiccrawl import settings as project
from topiccrawl.errors import SettingError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

LEASE = "topiccrawl.middlewares.lease.LeaseMiddleware"
"""Without it no page is ever done: links and acknowledgement wait for its word."""
_INSTEAD = (
    (
        "DOWNLOADER_MIDDLEWARES",
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
        "ROBOTSTXT_OBEY",
    ),
    (
        "DOWNLOADER_MIDDLEWARES",
        "scrapy.downloadermiddlewares.retry.RetryMiddleware",
        "RETRY_ENABLED",
    ),
    ("EXTENSIONS", "scrapy.extensions.throttle.AutoThrottle", "AUTOTHROTTLE_ENABLED"),
)
"""Hook, part of Scrapy's whose work the frontier does, and the setting that switches both."""
_HOOKS = ("SPIDER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS")


def check_parts(settings: BaseSettings) -> None:
    """Refuse settings with which no spider can crawl on the frontier.

    Raises:
        SettingError: Naming the setting, the part and the remedy.
    """
    if _parts(settings, "SPIDER_MIDDLEWARES").get(LEASE) is None:
        raise _lacks("SPIDER_MIDDLEWARES", LEASE)
    for hook, part, switch in _INSTEAD:
        if settings.getbool(switch) and _parts(settings, hook).get(part) is not None:
            raise SettingError(
                f"{hook} leaves {part} on, but the frontier does its work: add {part!r}: None"
            )


def check_own_parts(settings: BaseSettings) -> None:
    """Refuse settings that lack a part which our spiders count on; None switches one off.

    Raises:
        SettingError: As ``check_parts``.
    """
    check_parts(settings)
    for hook in _HOOKS:
        given = _parts(settings, hook)
        for part in getattr(project, hook):
            if part not in given:
                raise _lacks(hook, part)


def _parts(settings: BaseSettings, hook: str) -> dict[str, Any]:
    """The parts on a hook with their order (None: off), by their full names."""
    given = {**settings[f"{hook}_BASE"], **(settings[hook] or {})}
    return {
        part if isinstance(part, str) else global_object_name(part): given[part] for part in given
    }


def _lacks(hook: str, part: str) -> SettingError:
    return SettingError(
        f"{hook} lacks {part}: write {hook} = {{**topiccrawl.settings.{hook}, ...}} to add to ours"
    )

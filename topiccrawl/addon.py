"""Scrapy add-on that adds the frontier, its hooks and all features to a Scrapy project."""

from __future__ import annotations

from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.python import global_object_name

from topiccrawl import settings as project

_OWN = frozenset(
    {
        "BOT_NAME", "COMMANDS_MODULE", "LOG_LEVEL", "NEWSPIDER_MODULE", "ROBOTSTXT_USER_AGENT",
        "USER_AGENT",
    }
)  # fmt: skip
"""Settings that the add-on does not set: the crawler's name, log level and project layout."""
_SPIDERS = "SPIDER_MODULES"
"""The only list that is extended: if two spiders have the same name, Scrapy uses the last one."""
_REMOVED = frozenset({"topiccrawl.extensions.retry.StartRetry"})
"""Components of earlier versions, which Scrapy cannot load; they are taken out of all settings."""


class Addon:
    """Adds the settings of ``topiccrawl.settings``: ``ADDONS = {"topiccrawl.Addon": 100}``.

    The user's settings take precedence. Components are added to the user's dictionaries unless they
    are already named there, and spider modules before the user's; None instead of an order disables
    a component. As in Scrapy, a dictionary set on the command line replaces all others.
    Each feature is off until its setting is present.
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Add the settings that spider loaders and commands read before there is a crawler."""
        for name, value in vars(project).items():
            if name.isupper() and name not in _OWN:
                _add(settings, name, value)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the settings to a crawler that was created without a crawler process."""
        self.update_pre_crawler_settings(settings)


def _add(settings: BaseSettings, name: str, value: Any) -> None:  # noqa: ANN401 - any setting
    priority = settings.getpriority(name)
    if priority is None or not (isinstance(value, dict) or name == _SPIDERS):
        settings.set(name, value, priority="addon")
    elif priority > _highest(settings):
        return
    elif name == _SPIDERS:
        given = settings.getlist(name)
        missing = [one for one in value if one not in given]
        settings.set(name, [*missing, *given], priority=priority)
    else:
        own = settings.getdict(name)
        named = {one if isinstance(one, str) else global_object_name(one) for one in own}
        added = {one: order for one, order in value.items() if one not in named}
        components = {k: v for k, v in {**own, **added}.items() if k not in _REMOVED}
        settings.set(name, components, priority=priority)


def _highest(settings: BaseSettings) -> int:
    """Return the highest priority of settings to which components are added.

    Settings of a spider with a scheduler of its own are not changed.
    """
    spider = SETTINGS_PRIORITIES["spider"]
    other = (settings.getpriority("SCHEDULER") or 0) >= spider
    return SETTINGS_PRIORITIES["project"] if other else spider

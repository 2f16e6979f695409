"""Scrapy add-on that brings the frontier, its hooks and all features to a Scrapy project."""

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
"""Settings that stay the user's: the crawler's name, its log, and the layout of the project."""


class Addon:
    """Gives a project what ``topiccrawl.settings`` has: ``ADDONS = {"topiccrawl.Addon": 100}``.

    The user's settings win. Components that they do not name are added to their dictionaries, and
    spiders to their lists; None instead of an order switches a component off. What the command line
    sets replaces a dictionary, as in Scrapy. Each feature is off until its setting is present.
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Add the settings that spider loaders and commands read before there is a crawler."""
        for name, value in vars(project).items():
            if name.isupper() and name not in _OWN:
                _add(settings, name, value)

    def update_settings(self, settings: BaseSettings) -> None:
        """Do the same for a crawler that was made without a crawler process."""
        self.update_pre_crawler_settings(settings)


def _add(settings: BaseSettings, name: str, value: Any) -> None:  # noqa: ANN401 - any setting
    priority = settings.getpriority(name)
    if priority is None or not isinstance(value, dict | list):
        settings.set(name, value, priority="addon")
    elif priority > _highest(settings):
        return
    elif isinstance(value, list):
        for item in value:
            settings.add_to_list(name, item)
    else:
        given = settings.getdict(name)
        named = {one if isinstance(one, str) else global_object_name(one) for one in given}
        ours = {one: order for one, order in value.items() if one not in named}
        settings.set(name, {**given, **ours}, priority=priority)


def _highest(settings: BaseSettings) -> int:
    """Return the priority up to which components are added to what is given.

    Those of a spider with a scheduler of its own stay as they are.
    """
    spider = SETTINGS_PRIORITIES["spider"]
    other = (settings.getpriority("SCHEDULER") or 0) >= spider
    return SETTINGS_PRIORITIES["project"] if other else spider

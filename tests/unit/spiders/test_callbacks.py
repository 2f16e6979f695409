"""Tests of the type hints of callbacks, which tools such as scrapy-poet evaluate at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_type_hints

import pytest
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader

from topiccrawl import settings as project
from topiccrawl.scheduler.downloads import DownloadReporter

if TYPE_CHECKING:
    from collections.abc import Callable


def callbacks() -> list[Callable[..., Any]]:
    """Return all callbacks of requests: those of our spiders, and that of robots.txt."""
    loader = get_spider_loader(Settings({"SPIDER_MODULES": project.SPIDER_MODULES}))
    methods = [item for name in loader.list() for item in vars(loader.load(name)).items()]
    found = [method for name, method in methods if name.startswith("parse")]
    return [*found, DownloadReporter.robots]


@pytest.mark.parametrize("callback", callbacks(), ids=lambda one: one.__qualname__)
def test_type_hints_of_callbacks_can_be_evaluated(callback: Callable[..., Any]) -> None:
    assert get_type_hints(callback)["response"] is Response

"""The browser behind ``TOPICCRAWL_JS``: scrapy-playwright, only for requests that ask for it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import SettingError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

META = {"playwright": True}
"""What in a request's meta sends it to the browser."""

_HANDLER = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
_NEEDLESS = frozenset(("image", "media", "font", "stylesheet"))


def use_browser(settings: BaseSettings) -> bool:
    """Set Scrapy up for rendering if ``TOPICCRAWL_JS`` says so; whether it does.

    Raises:
        SettingError: scrapy-playwright is not installed.
    """
    if not wants_browser(settings):
        return False
    options: dict[str, Any] = {"args": ["--disable-gpu", "--no-sandbox"]}
    if path := settings.get("TOPICCRAWL_BROWSER"):
        options["executable_path"] = path
    chosen = {
        "DOWNLOAD_HANDLERS": {"http": _HANDLER, "https": _HANDLER},
        "PLAYWRIGHT_LAUNCH_OPTIONS": options,
        "PLAYWRIGHT_ABORT_REQUEST": is_needless,
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 2,
        "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": 1000 * settings.getfloat("DOWNLOAD_TIMEOUT"),
    }
    for name, value in chosen.items():
        settings.set(name, value, priority="spider")
    return True


def wants_browser(settings: BaseSettings) -> bool:
    """Whether ``TOPICCRAWL_JS`` says so.

    Raises:
        SettingError: scrapy-playwright is not installed.
    """
    wanted = settings.getbool("TOPICCRAWL_JS")
    if wanted and find_spec("scrapy_playwright") is None:
        raise SettingError("TOPICCRAWL_JS needs scrapy-playwright: pip install 'topiccrawl[js]'")
    return wanted


def is_needless(request: Any) -> bool:  # noqa: ANN401  (playwright's, an optional dependency)
    """Whether a page's text can do without what it asks for."""
    return request.resource_type in _NEEDLESS

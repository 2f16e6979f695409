"""Creation of providers from arguments such as ``searxng:https://search.example.org``."""

from __future__ import annotations

from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from topiccrawl.discovery.contract import SeedProvider
from topiccrawl.discovery.custom import read_engine
from topiccrawl.discovery.engines import Baidu, Bing, DuckDuckGo, SearXNG
from topiccrawl.discovery.listings import CommonCrawl, Feed, Sitemaps, read_list
from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.links.urls import canonical
from topiccrawl.messages import NameList, message

if TYPE_CHECKING:
    from collections.abc import Callable

_NOT_LOADED = (ImportError, AttributeError, ValueError)


def _url(name: str, rest: str) -> str:
    url = canonical(rest)
    if url is None:
        raise ConfigurationError(
            "discover={name}:{rest}: write {name}:https://host/path", name=name, rest=rest
        )
    return url


def _path(name: str, rest: str) -> Path:
    if not rest:
        raise ConfigurationError("discover={name}: a file is missing: write {name}:FILE", name=name)
    return Path(rest)


def _common_crawl(rest: str) -> CommonCrawl:
    index, _, pattern = rest.rpartition(":") if rest.startswith("CC-MAIN-") else ("", "", rest)
    if not pattern:
        raise ConfigurationError("discover=commoncrawl: write commoncrawl:*.example.com")
    return CommonCrawl(pattern, index)


def _engine(name: str, engine: Callable[..., SeedProvider]) -> Callable[[str], SeedProvider]:
    return lambda rest: engine(_url(name, rest)) if rest else engine()


_BY_NAME: dict[str, Callable[[str], SeedProvider]] = {
    "searxng": lambda rest: SearXNG(_url("searxng", rest)),
    "baidu": _engine("baidu", Baidu),
    "bing": _engine("bing", Bing),
    "duckduckgo": _engine("duckduckgo", DuckDuckGo),
    "generic": lambda rest: read_engine(_path("generic", rest)),
    "feed": lambda rest: Feed(_url("feed", rest)),
    "sitemap": lambda rest: Sitemaps(_url("sitemap", rest)),
    "commoncrawl": _common_crawl,
    "list": lambda rest: read_list(_path("list", rest)),
}

NAMES = tuple(_BY_NAME)
"""Names of all providers."""
FILE_PROVIDERS = frozenset({"generic", "list"})
"""Names of providers that read a file; requests from other machines must not use them, nor dotted
paths."""


def provider_of(spec: str) -> SeedProvider:
    """Return the provider of an argument: one of ``NAMES`` or a dotted path, with optional text.

    Raises:
        ConfigurationError: The name is unknown, or the text after the colon is invalid.

    >>> provider_of("baidu").start("四川 软件公司").next
    ('https://www.baidu.com/s?wd=%E5%9B%9B%E5%B7%9D+%E8%BD%AF%E4%BB%B6%E5%85%AC%E5%8F%B8&pn=0&ie=utf-8',)
    """
    name, _, rest = spec.strip().partition(":")
    if name in _BY_NAME:
        return _BY_NAME[name](rest)
    if "." not in name:
        raise ConfigurationError(
            "discover={spec}: write one of {choices}", spec=spec, choices=NameList(NAMES)
        )
    return _load_class(name, rest)


def _load_class(path: str, rest: str) -> SeedProvider:
    """Return an instance of the class at a dotted path, created with ``rest`` if not empty."""
    text = message(
        "discover={path}: cannot be loaded ({error}): write one of "
        "{choices}, or the dotted path of a class"
    )
    with translated(ConfigurationError, text, _NOT_LOADED, path=path, choices=NameList(NAMES)):
        cls = resolve_name(path)
    # call only classes that look like providers: a template file may name any path
    if not isinstance(cls, type) or not (hasattr(cls, "start") and hasattr(cls, "read")):
        raise ConfigurationError("discover={path}: must be a class with start and read", path=path)
    text = message("discover={path}:{rest}: cannot be created: {error}")
    with translated(ConfigurationError, text, (TypeError, ValueError), path=path, rest=rest):
        provider = cls(rest) if rest else cls()
    if not isinstance(provider, SeedProvider):
        raise ConfigurationError(
            "discover={path}: the class must also have name and searches", path=path
        )
    return provider


def providers_of(specs: str) -> tuple[SeedProvider, ...]:
    """Return the providers of a comma-separated list, in order.

    Raises:
        ConfigurationError: See ``provider_of``.

    >>> [provider.name for provider in providers_of("bing, feed:http://a.test/rss")]
    ['bing', 'feed']
    """
    return tuple(provider_of(spec) for spec in specs.split(",") if spec.strip())

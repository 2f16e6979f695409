"""Seed providers: search engines, feeds, sitemaps, indexes and lists; no network access."""

from topiccrawl.discovery.contract import (
    Answer,
    Blocked,
    Changed,
    Fetched,
    Hit,
    Results,
    SeedProvider,
)
from topiccrawl.discovery.custom import CustomEngine, Engine, read_engine
from topiccrawl.discovery.engines import Baidu, Bing, DuckDuckGo, SearXNG
from topiccrawl.discovery.factory import provider_of, providers_of
from topiccrawl.discovery.listings import CommonCrawl, Feed, Sitemaps, UrlList, read_list
from topiccrawl.discovery.pages import hit_of, hits_of, number_in, tree, unusual, with_query

__all__ = [
    "Answer",
    "Baidu",
    "Bing",
    "Blocked",
    "Changed",
    "CommonCrawl",
    "CustomEngine",
    "DuckDuckGo",
    "Engine",
    "Feed",
    "Fetched",
    "Hit",
    "Results",
    "SearXNG",
    "SeedProvider",
    "Sitemaps",
    "UrlList",
    "hit_of",
    "hits_of",
    "number_in",
    "provider_of",
    "providers_of",
    "read_engine",
    "read_list",
    "tree",
    "unusual",
    "with_query",
]

"""Settings of the news filter (docs/url-patterns.md; method of CN101694658)."""

TOPICCRAWL_NEWS_FILTER = False
"""Learn the URL patterns of each site and drop links that are not news (docs/url-patterns.md)."""

DOWNLOADER_MIDDLEWARES = {"topiccrawl.addons.url_patterns.middleware.NewsGateMiddleware": 50}
SPIDER_MIDDLEWARES = {
    # after the rules of LinkFilterMiddleware (600)
    "topiccrawl.addons.url_patterns.middleware.NewsFilterMiddleware": 550,
}
TOPICCRAWL_DASHBOARD_SECTIONS = {"topiccrawl.addons.url_patterns.section.patterns": 100}

"""Scrapy settings of the project: those of the core, with units and reasons, and of the add-ons.

An add-on's settings are in the ``settings.py`` of its folder; the last lines of this module merge
them, hooks into hooks. ``topiccrawl.Addon`` adds the same settings to any Scrapy project. Each can
be overridden as usual with ``-s NAME=VALUE``; Scrapy's own settings keep their meaning.
docs/settings.md lists all.
"""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files

from topiccrawl import __version__

BOT_NAME = "topiccrawl"
"""Name of the project in Scrapy's output."""
SPIDER_MODULES = ["topiccrawl.spiders"]
"""Modules of spiders; add-ons extend the list."""
NEWSPIDER_MODULE = "topiccrawl.spiders"
"""Module in which ``scrapy genspider`` creates spiders."""
COMMANDS_MODULE = "topiccrawl.commands"
"""Module of commands; it replaces Scrapy's crawl, fetch, view, parse, shell, list, bench and
check."""

# -- State --------------------------------------------------------------------------------------
TOPICCRAWL_DATA_DIR = "data"
"""Folder of all state: the frontiers (one per topic) and the article store."""

TOPICCRAWL_STORAGE = ""
"""Dotted path of the class that stores articles and the data of features (docs/storage.md); empty:
the first of TOPICCRAWL_STORAGES that is configured, or else SQLite in the data folder."""
TOPICCRAWL_STORAGES: dict[str, int] = {}
"""Storages of add-ons and their order; each determines from its own settings whether it is used."""

TOPICCRAWL_CRAWL = ""
"""Name of the crawl, which has a separate frontier; empty: the topic's slug. Letters, digits,
``.-_``."""

# -- The frontier: the queue of a crawl (docs/scale.md) ------------------------------------------
TOPICCRAWL_FRONTIER = "topiccrawl.scheduler.frontiers.LocalFrontiers"
"""Dotted path of the class that opens frontiers, constructed with (settings, place). The Redis
add-on opens them in Redis if REDIS_URL is set. A custom class is like
topiccrawl.scheduler.frontiers.Frontiers."""

# -- Control (docs/tasks.md) --------------------------------------------------------------------
TOPICCRAWL_CONTROL = True
"""Follow ``scrapy control pause|resume|cancel|speed`` and the dashboard's buttons."""
TOPICCRAWL_TURN = False
"""Set by workers: the crawl is one turn of a task, so no other process crawls it meanwhile."""

# -- Components of the core and of add-ons, by dotted path (None instead of the order: off) ------
TOPICCRAWL_CHECKS: dict[str, int] = {
    "topiccrawl.pipelines.store.check_store": 100,
    "topiccrawl.spiders.discovering.check_discover": 100,
}
"""Dotted paths of functions that check settings before a crawl, and their order. Each takes the
settings and raises SettingError."""
TOPICCRAWL_COLLECTIONS: dict[str, str] = {}
"""File extensions that ``scrapy simulate`` reads as collections in addition to ``*.web.jsonl.gz``,
and the functions that read them: from a path to responses (url, status, headers, body)."""
TOPICCRAWL_FORGET: dict[str, int] = {}
"""Dotted paths of functions that remove data for ``scrapy articles forget`` from other places than
the store, and their order (docs/storage.md)."""
TOPICCRAWL_EXAMINATIONS: dict[str, str] = {}
"""Names of additional checks of ``scrapy doctor``, and the dotted paths of their functions: from
settings to findings (``topiccrawl.scheduler.findings``)."""
TOPICCRAWL_STORE_LISTENERS: dict[str, int] = {}
"""Dotted paths of functions that build listeners to stored articles, and their order
(docs/storage.md)."""

# -- Politeness ---------------------------------------------------------------------------------
USER_AGENT = f"topiccrawl/{__version__} (focused news crawler)"
"""User agent of the crawler. Add an address where site owners can reach you."""
ROBOTSTXT_OBEY = True
"""Obey robots.txt, crawl-delay included."""
ROBOTSTXT_USER_AGENT = "topiccrawl"
"""Product token looked up in robots.txt."""
TOPICCRAWL_OWN_HOSTS = ""
"""Hosts whose robots.txt is ignored, such as your SearXNG (its own forbids searches), separated by
commas. Name only hosts that you run, or whose owner agreed."""
TOPICCRAWL_PRIVATE_ADDRESSES = False
"""Fetch from this machine and private networks whenever a page links there. Off: only from hosts
that are seeds or named in the topic's allowed_hosts, allowed_domains or TOPICCRAWL_OWN_HOSTS."""
DOWNLOAD_DELAY = 1.0
"""Seconds between two requests to one host; a host's crawl-delay raises it."""
CONCURRENT_REQUESTS_PER_DOMAIN = 1
"""Requests in flight per host."""
CONCURRENT_REQUESTS = 16
"""Requests in flight over all hosts."""
TOPICCRAWL_DOMAIN_SHARE = 0.5
"""Maximum share of CONCURRENT_REQUESTS in flight for one registrable domain with several hosts; one
more page may be in processing. Of a domain with one host, only pages in processing count. Slow
domains thus leave capacity for other sites. 1 or 0: no limit."""
TOPICCRAWL_SLOW_START = 4
"""Crawled pages for each further request in flight at the start of a crawl, which begins with one:
2 after 4 pages, 16 after 60. Without a judged page all links look alike. Start URLs, and pages that
take more than 3 seconds, do not count, nor do pages of strategies without evidence. 0: as many
requests as allowed from the start."""
CONCURRENT_ITEMS = 4
"""Items of a page that are processed at once. Scrapy starts this many tasks for each response: its
default of 100 takes 0.9 ms, 16 take 0.15 ms; a page has at most one article."""
AUTOTHROTTLE_ENABLED = True
"""Slow down for hosts that respond slowly, by the rule of Scrapy's AutoThrottle."""
AUTOTHROTTLE_START_DELAY = 1.0
"""Seconds; equal to DOWNLOAD_DELAY, since Scrapy's default of 5 would slow down a crawl of many
hosts."""
AUTOTHROTTLE_MAX_DELAY = 60.0
"""Maximum seconds between two requests to a slow host."""
AUTOTHROTTLE_TARGET_CONCURRENCY = 1.0
"""Requests in flight per host that the adaptive delay aims at."""
DOWNLOAD_TIMEOUT = 30
"""Seconds; a news page that takes longer is skipped."""
DOWNLOAD_MAXSIZE = 8 * 1024 * 1024
"""Bytes; larger bodies are not news pages."""
METAREFRESH_MAXDELAY = 10
"""Seconds; a page with a longer delay reloads itself and does not redirect."""
COOKIES_ENABLED = True
"""Send the cookies that sites set."""
TELNETCONSOLE_ENABLED = False
"""Off: it opens a port that executes Python code."""
REMOTE_CONTROL_ENABLED = False
"""Off, for the same reason."""

# -- Seeds (docs/discovery.md) ------------------------------------------------------------------
TOPICCRAWL_DISCOVER = ""
"""Providers of start URLs, such as searxng:http://localhost:8888 or the dotted path of a class,
separated by commas; empty: the topic's seeds or the default portals. ``-a discover=`` overrides
it."""
TOPICCRAWL_DISCOVER_PAGES = 5
"""Result pages requested per provider and query; Baidu shows up to 76."""

# -- Order of links (methods: Liu, Lin, Gao 2009; Hersovici et al. 1998) ------------------------
TOPICCRAWL_STRATEGY = "shark-plus"
"""One of bfs, best-first, shark, shark-inlink, link-block, shark-plus, or the dotted path of a
custom class (docs/strategies.md)."""
TOPICCRAWL_RELEVANCE = ""
"""Dotted path of a custom relevance model: a function of settings and scorer that returns a
RelevanceModel (docs/judge.md). Empty: the topic's terms, and marks if there are any."""
TOPICCRAWL_LANE_SHARE = ""
"""Ratio of fetches from priorQueue to fetches from normalQueue, such as "1:1"; empty: the
strategy's default."""
TOPICCRAWL_PAGES = 0
"""Number of parsed pages after which a run (of each node) ends, never exceeded; errors and
redirects do not count. 0: no limit. CLOSESPIDER_PAGECOUNT counts every response, and ends the run
later."""
TOPICCRAWL_HOST_PAGES = 0
"""Maximum number of pages fetched per host; 0: no limit."""
TOPICCRAWL_PAGE_HOSTS = 1000
"""Maximum number of new hosts that the links of one page may add; links to further hosts are
counted as ``page-hosts``. 0: no limit."""
TOPICCRAWL_DOMAIN_HOSTS = 500
"""Maximum number of hosts (of a node) of one registrable domain; links and redirects to further
ones are counted as ``domain-hosts``. It bounds sites that generate host names without end. 0: no
limit."""
TOPICCRAWL_HOSTS = 200_000
"""Maximum number of hosts (of a node) in total; links and redirects to further ones are counted as
``all-hosts``. This many take about 0.35 GB of RAM. 0: no limit."""
TOPICCRAWL_MAX_QUEUED = 20_000_000
"""Queued URLs (of a node) beyond which low scores are rejected, counted as ``tail``; 0: no limit.
This many take about 10 GB of disk and 0.3 GB of RAM; see docs/scale.md."""
TOPICCRAWL_MAX_KNOWN = 0
"""Recorded URLs (of a node) beyond which records of settled ones are evicted; 0: never. Fetched and
failed URLs are not fetched again, but ``scrapy why`` no longer explains them, and they cannot be
watched. URLs that were only predicted to be low count as new when a page links to them again."""
TOPICCRAWL_SEEN_ERROR = 0.001
"""Share of new URLs that may be mistaken for fetched ones, and lost, once records are evicted. A
filter takes two to four bytes per URL. From 0.000001 to 0.1; see docs/scale.md."""
TOPICCRAWL_RETRY_DELAY = 10.0
"""Seconds before a failed URL is retried, doubled with each failure; RETRY_* limit the retries."""
TOPICCRAWL_RETRY_MAX_DELAY = 600.0
"""Longest delay in seconds before a retry, also for a server's Retry-After."""

TOPICCRAWL_SITE_WORDS = True
"""Reduce the weight that words on most pages of a site have on that site. The relevance of a page
then depends on the pages read before it (docs/judge.md)."""
TOPICCRAWL_LINK_RELEVANCE = True
"""Judge a page by its words and by the links that led to it; off: by its words alone. Links never
count in crawls for several topics, with TOPICCRAWL_RELEVANCE, and with built-in strategies other
than shark-plus (docs/judge.md)."""
TOPICCRAWL_EXTRACT = True
"""Extract articles from relevant pages; off: the crawl only explores."""
TOPICCRAWL_GENRES = ["article", "live"]
"""Genres of pages whose text is stored as an article: article, live, hub, gallery, product, forum,
service, reference (documentation, encyclopedias), search; see docs/extraction.md."""

TOPICCRAWL_ARTICLE_PAGES = 20
"""Maximum number of pages fetched and joined for one article; 1: each page is an article."""

# -- Readers: separate processes that read the pages of a crawl (docs/scale.md) -------------------
TOPICCRAWL_READERS = ""
"""Number of reader processes; empty: the number of cores minus one, from one to four; 0: pages are
read in the crawl's own process, which an expensive page blocks."""
TOPICCRAWL_READER_MEMORY = 1 << 30
"""Bytes of memory that a page may take in a reader; a page that takes more ends as error
``reader-memory``."""
TOPICCRAWL_READER_SECONDS = 10.0
"""Seconds of processor time that a page may take in a reader, and three times as many seconds of
wall-clock time; a page that takes longer ends as error ``reader-timeout``."""
TOPICCRAWL_READER = "topiccrawl.extract.reading.StandardReader"
"""Dotted path of the class that reads pages; a custom class is like
topiccrawl.extract.reading.PageReader, without state."""

# -- Traps (method of CN103970788: long and deep URLs are not fetched) --------------------------
TOPICCRAWL_TRAPS_ENABLED = True
"""Reject URLs that look like crawler traps."""
URLLENGTH_LIMIT = 512
"""Maximum characters of a URL; news URLs stay below 200."""
TOPICCRAWL_TRAP_SLASHES = 12
"""Maximum number of slashes in a URL's path."""

# -- Reprints (docs/duplicates.md) and how articles are stored ----------------------------------
TOPICCRAWL_DUPLICATES = "shingles"
"""Detector of reprints: shingles, ranked-keywords, exact-text, or the dotted path of a class."""
TOPICCRAWL_DUPLICATES_WINDOW = 30
"""Days between two articles beyond which only identical texts are one story; 0: no limit."""
TOPICCRAWL_DUPLICATES_ARTICLES = 1_000_000
"""Number of the newest articles with which a new one is compared; about 210 bytes of RAM each."""

# -- Messages and log (docs/operations.md) ------------------------------------------------------
TOPICCRAWL_LANGUAGE = ""
"""Language of messages to users, en or zh; empty: that of the environment (a variable of this name,
or LANG). The environment alone decides about help texts. The log is in English."""
TOPICCRAWL_LOG_JSON = False
"""Write the log as JSON, one object per line, from the start of the crawl."""

# -- Hooks: add-ons use the orders in between ----------------------------------------------------
ADDONS = {"topiccrawl.Addon": 100}
SCHEDULER = "topiccrawl.scheduler.scheduler.FrontierScheduler"
"""The scheduler that keeps requests in the frontier."""
DOWNLOAD_HANDLERS = {
    "http": "topiccrawl.scheduler.sendgate.SendGateHandler",
    "https": "topiccrawl.scheduler.sendgate.SendGateHandler",
    "file": None, "ftp": None, "s3": None, "data": None,
}  # fmt: skip
"""Web pages only: no page, feed or imported frontier can make the crawler read a local file."""
DOWNLOADER_MIDDLEWARES = {
    "topiccrawl.middlewares.lease.DirectRequestMiddleware": 20,
    "topiccrawl.middlewares.reading.ReadingMiddleware": 30,  # gets the same response as the spider
    "topiccrawl.middlewares.linkfilter.UrlGateMiddleware": 45,
    "topiccrawl.middlewares.robots.DirectRobotsMiddleware": 100,
    # The frontier does these, for all requests with one clock per host:
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "topiccrawl.middlewares.retry.DirectRetryMiddleware": 550,
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
    "topiccrawl.middlewares.cookies.OfflineCookiesMiddleware": 700,
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "topiccrawl.middlewares.metarefresh.HeadRefreshMiddleware": 580,
}
SPIDER_MIDDLEWARES = {
    "topiccrawl.middlewares.lease.LeaseMiddleware": 10,  # outermost: gets the final output
    "topiccrawl.middlewares.linkfilter.LinkFilterMiddleware": 600,
}
EXTENSIONS = {
    "scrapy.extensions.throttle.AutoThrottle": None,  # the frontier follows AUTOTHROTTLE_*
    "topiccrawl.extensions.jsonlog.PlainLog": 99,
    "topiccrawl.extensions.jsonlog.JsonLog": 100,
    "topiccrawl.extensions.figures.CrawlFigures": 490,
    "topiccrawl.extensions.progress.Progress": 500,
    "topiccrawl.extensions.review.CrawlReview": 505,
    "topiccrawl.extensions.outcome.CrawlOutcome": 510,
    "topiccrawl.extensions.control.CrawlControl": 515,
    "topiccrawl.extensions.budget.PageBudget": 520,
    "topiccrawl.extensions.garbage.RareCollections": 540,
}
ITEM_PIPELINES = {
    "topiccrawl.pipelines.store.StorePipeline": 800,  # decides which articles are new
    "topiccrawl.pipelines.dedup.DedupPipeline": 900,  # drops reprints, for feeds
}
DEFAULT_DROPITEM_LOG_LEVEL = "INFO"
"""INFO, since a dropped reprint does not need a warning."""
FEED_EXPORT_ENCODING = "utf-8"
"""Encoding of feeds, in which Chinese text is readable."""
FEED_EXPORTERS = {"csv": "topiccrawl.pipelines.csvfeed.DefusedCsvExporter"}
"""Escapes cells that a spreadsheet would run as formulas (docs/storage.md)."""
LOG_LEVEL = "INFO"
"""Lowest level of logged messages."""
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
"""Reactor on asyncio's event loop, which the stores and the servers need."""

# -- Add-ons ------------------------------------------------------------------------------------


def _add(name: str, value: object) -> None:
    """Add a setting of an add-on; dictionaries and lists are merged with those above."""
    current = globals().get(name)
    if isinstance(current, dict) and isinstance(value, dict):
        value = {**current, **value}
    elif isinstance(current, list) and isinstance(value, list):
        value = [*current, *value]
    globals()[name] = value


_folders = files("topiccrawl.addons").iterdir()
for _folder in sorted(one.name for one in _folders if (one / "settings.py").is_file()):
    for _name, _value in vars(import_module(f"topiccrawl.addons.{_folder}.settings")).items():
        if _name.isupper():
            _add(_name, _value)

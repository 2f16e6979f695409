"""Scrapy settings of the project: the core's, each with unit and reason, and those of the add-ons.

An add-on has its own in the ``settings.py`` of its folder; the last lines here add them, hooks to
hooks. ``topiccrawl.Addon`` gives the same to any Scrapy project. Each can be overridden as usual
with ``-s NAME=VALUE``; Scrapy's own settings keep their meaning. docs/settings.md lists all.
"""

from __future__ import annotations

from importlib import import_module

from topiccrawl import __version__

BOT_NAME = "topiccrawl"
"""Name of the project, as Scrapy shows it."""
SPIDER_MODULES = ["topiccrawl.spiders"]
"""Modules of spiders; add-ons add theirs."""
NEWSPIDER_MODULE = "topiccrawl.spiders"
"""Module in which ``scrapy genspider`` creates spiders."""
COMMANDS_MODULE = "topiccrawl.commands"
"""Module of commands; it replaces Scrapy's crawl, fetch, parse, shell, bench and check."""

# -- State --------------------------------------------------------------------------------------
TOPICCRAWL_DATA_DIR = "data"
"""Folder of all state: the frontiers (one per topic) and the article store."""

TOPICCRAWL_STORAGE = ""
"""Dotted path of the class that stores articles and what features keep (docs/storage.md); empty:
the first of TOPICCRAWL_STORAGES that is set up, else SQLite in the folder."""
TOPICCRAWL_STORAGES: dict[str, int] = {}
"""Storages of add-ons and their order; each reads from its own settings whether it is used."""

TOPICCRAWL_CRAWL = ""
"""Name of the crawl: a frontier of its own; empty: the topic's slug. Letters, digits, ``.-_``."""

# -- The frontier: the queue of a crawl (docs/scale.md) ------------------------------------------
TOPICCRAWL_FRONTIER = "topiccrawl.scheduler.frontiers.LocalFrontiers"
"""Dotted path of what opens frontiers, made with (settings, place); the add-on for Redis opens them
there where REDIS_URL is given. An own class is like topiccrawl.scheduler.frontiers.Frontiers."""

# -- Steering (docs/tasks.md) -------------------------------------------------------------------
TOPICCRAWL_CONTROL = True
"""Follow ``scrapy control pause|resume|cancel|speed`` and the dashboard's buttons."""
TOPICCRAWL_TURN = False
"""Set by workers: the crawl is one turn of a task, so no other process crawls it meanwhile."""

# -- Own parts, and those of add-ons, by dotted path (None instead of the order: off) ------------
TOPICCRAWL_CHECKS: dict[str, int] = {
    "topiccrawl.extensions.stopping.level_of": 100,
    "topiccrawl.pipelines.store.check_store": 100,
    "topiccrawl.spiders.discovering.check_discover": 100,
}
"""Dotted paths of functions that check settings before a crawl, and their order: from settings;
each raises SettingError."""
TOPICCRAWL_COLLECTIONS: dict[str, str] = {}
"""File extensions that ``scrapy simulate`` reads as collections besides ``*.web.jsonl.gz``, and the
functions that read them: from a path to responses (url, status, headers, body)."""
TOPICCRAWL_FORGET: dict[str, int] = {}
"""Dotted paths of functions that remove what ``scrapy articles forget`` removes, where it is kept
besides the store, and their order (docs/storage.md)."""
TOPICCRAWL_EXAMINATIONS: dict[str, str] = {}
"""Names of further examinations of ``scrapy doctor``, and the dotted paths of their functions: from
settings to findings (``topiccrawl.scheduler.findings``)."""
TOPICCRAWL_STORE_LISTENERS: dict[str, int] = {}
"""Dotted paths of functions that build listeners to stored articles, and their order
(docs/storage.md)."""

# -- Politeness: polite before fast -------------------------------------------------------------
USER_AGENT = f"topiccrawl/{__version__} (focused news crawler)"
"""Identifies the crawler. Add an address where site owners can reach you."""
ROBOTSTXT_OBEY = True
"""Obey robots.txt, crawl-delay included."""
ROBOTSTXT_USER_AGENT = "topiccrawl"
"""Product token looked up in robots.txt."""
TOPICCRAWL_OWN_HOSTS = ""
"""Hosts whose robots.txt is ignored, such as your SearXNG (its own forbids searches), separated by
commas. Name only hosts that you run, or whose owner agreed."""
TOPICCRAWL_PRIVATE_ADDRESSES = False
"""Fetch from this machine and private networks wherever a page says so. Off: only from hosts that
are seeds or named in the topic's allowed_hosts, allowed_domains or TOPICCRAWL_OWN_HOSTS."""
DOWNLOAD_DELAY = 1.0
"""Seconds between two requests to one host; a host's crawl-delay raises it."""
CONCURRENT_REQUESTS_PER_DOMAIN = 1
"""Requests in flight per host."""
CONCURRENT_REQUESTS = 16
"""Requests in flight over all hosts."""
TOPICCRAWL_DOMAIN_SHARE = 0.5
"""Share of CONCURRENT_REQUESTS that may be in flight, and one more of them being read, at one
registrable domain of several hosts: slow ones leave room for other sites; 1 or 0: no limit."""
CONCURRENT_ITEMS = 4
"""Items of a page that are processed at once. Scrapy starts this many tasks for each response: its
own 100 take .9 ms, 16 take .15; a page has one article or none."""
AUTOTHROTTLE_ENABLED = True
"""The frontier slows down where a host answers slowly, by the rule of Scrapy's AutoThrottle."""
AUTOTHROTTLE_START_DELAY = 1.0
"""Seconds; as DOWNLOAD_DELAY, since five at first would starve a crawl of many hosts."""
AUTOTHROTTLE_MAX_DELAY = 60.0
"""Maximum of seconds between two requests to a slow host."""
AUTOTHROTTLE_TARGET_CONCURRENCY = 1.0
"""Requests in flight per host that the rule aims at."""
DOWNLOAD_TIMEOUT = 30
"""Seconds; a news page that takes longer is skipped."""
DOWNLOAD_MAXSIZE = 8 * 1024 * 1024
"""Bytes; larger bodies are not news pages."""
METAREFRESH_MAXDELAY = 10
"""Seconds; with a longer delay a page reloads itself and does not redirect."""
COOKIES_ENABLED = True
"""Send sites the cookies that they set."""
TELNETCONSOLE_ENABLED = False
"""Off: it opens a port that runs Python."""
REMOTE_CONTROL_ENABLED = False
"""Off, for the same reason."""

# -- Where to begin (docs/discovery.md) ---------------------------------------------------------
TOPICCRAWL_DISCOVER = ""
"""Providers of start URLs, such as searxng:http://localhost:8888 or the dotted path of a class;
several separated by commas; empty: the topic's seeds or the default portals. ``-a discover=``
overrides it."""
TOPICCRAWL_DISCOVER_PAGES = 5
"""Result pages requested per provider and query; Baidu shows up to 76."""

# -- Order: which link first (methods: Liu, Lin, Gao 2009; Hersovici et al. 1998) ---------------
TOPICCRAWL_STRATEGY = "shark-plus"
"""One of bfs, best-first, shark, shark-inlink, link-block, shark-plus; or the dotted path of an own
class (docs/strategies.md)."""
TOPICCRAWL_RELEVANCE = ""
"""Dotted path of a judge of pages in place of the topic's words: a function of settings and scorer
that returns a RelevanceModel (docs/judge.md). Empty: words, and marks where there are any."""
TOPICCRAWL_LANE_SHARE = ""
"""Pops of priorQueue to pops of normalQueue, such as "1:1"; empty: the strategy's own."""
TOPICCRAWL_PAGES = 0
"""Parsed pages after which a run (of each node) ends, never one more; errors and redirects do not
count. 0: no limit. CLOSESPIDER_PAGECOUNT counts every response, and ends later."""
TOPICCRAWL_STOP_YIELD = 0.0
"""Expected share of relevant pages among the next ones, below which the run ends; 0: off."""
TOPICCRAWL_STOP_AHEAD = 50
"""Pages of the forecast: this many of the best queued URLs are examined."""
TOPICCRAWL_STOP_WINDOW = 200
"""Last fetched pages that calibrate the forecast; a run fetches at least this many."""
TOPICCRAWL_HOST_PAGES = 0
"""Maximum of pages fetched per host; 0: no limit."""
TOPICCRAWL_PAGE_HOSTS = 1000
"""Maximum of new hosts that the links of one page bring, the first ones; links to further ones are
counted as ``page-hosts``. 0: no limit."""
TOPICCRAWL_DOMAIN_HOSTS = 500
"""Maximum of hosts (of a node) of one registrable domain; links and redirects to further ones are
counted as ``domain-hosts``: sites whose every name is a host have no end. 0: no limit."""
TOPICCRAWL_HOSTS = 200_000
"""Maximum of hosts (of a node) in all; links and redirects to further ones are counted as
``all-hosts``. This many take about 0.35 GB of RAM. 0: no limit."""
TOPICCRAWL_MAX_QUEUED = 20_000_000
"""Queued URLs (of a node) beyond which low scores are rejected, counted as ``tail``; 0: no limit.
This many take about 10 GB of disk and 0.3 GB of RAM; see docs/scale.md."""
TOPICCRAWL_MAX_KNOWN = 0
"""Recorded URLs (of a node) beyond which records of settled ones are evicted; 0: never. Fetched and
failed URLs are not fetched again, but ``scrapy why`` no longer explains them, and they cannot be
watched. URLs that were only predicted to be low count as new when a page links to them again."""
TOPICCRAWL_SEEN_ERROR = 0.001
"""Share of new URLs that may be mistaken for fetched ones, and lost, once records are evicted; a
filter keeps two to four bytes of each. From 0.000001 to 0.1; see docs/scale.md."""
TOPICCRAWL_RETRY_DELAY = 10.0
"""Seconds before a failed URL is retried, doubled with each failure; RETRY_* limit the retries."""
TOPICCRAWL_RETRY_MAX_DELAY = 600.0
"""Longest wait in seconds, also for a server's Retry-After."""

TOPICCRAWL_SITE_WORDS = True
"""Let words that are on most pages of a site count less there; what a page is worth then depends on
the pages read before it (docs/judge.md)."""
TOPICCRAWL_LEARN_UNMARKED = True
"""Learn words from the ten pages that score best, for a topic given as words or a sentence and
without marks; a topic file is taken at its word (docs/judge.md)."""
TOPICCRAWL_EXTRACT = True
"""Extract articles from relevant pages; off: a crawl only explores."""
TOPICCRAWL_GENRES = ["article", "live"]
"""Genres of pages whose text is stored as an article: article, live, hub, gallery, product, forum,
service, reference (documentation, encyclopedias), search; see docs/extraction.md."""

TOPICCRAWL_ARTICLE_PAGES = 20
"""Maximum of pages of one article that are fetched and joined; 1: each page is an article."""

# -- Readers: processes beside the crawl that read its pages (docs/scale.md) -----------------------
TOPICCRAWL_READERS = ""
"""Processes that read pages; empty: the cores less one, from one to four; 0: pages are read in the
crawl's own process, where one that is dear to read stops the crawl for that long."""
TOPICCRAWL_READER_MEMORY = 1 << 30
"""Bytes of memory that a page may take in a reader; then it ends as error ``reader-memory``."""
TOPICCRAWL_READER_SECONDS = 10.0
"""Seconds of processor time that a page may take in a reader, three times as many by the clock;
then it ends as error ``reader-timeout``."""
TOPICCRAWL_WATCHDOG = 2.0
"""Seconds that the crawl's own loop may stand still before URL and stack are logged; 0: off."""
TOPICCRAWL_READER = "topiccrawl.extract.reading.StandardReader"
"""Dotted path of the class that reads pages; an own class is like
topiccrawl.extract.reading.PageReader, without state."""

# -- Traps (Method of CN103970788: long and deep URLs are not fetched) --------------------------
TOPICCRAWL_TRAPS_ENABLED = True
"""Reject URLs that look like crawler traps."""
URLLENGTH_LIMIT = 512
"""Characters; news URLs stay below 200."""
TOPICCRAWL_TRAP_SLASHES = 12
"""Maximum of slashes in a URL's path."""

# -- Reprints (docs/duplicates.md) and how articles are stored ----------------------------------
TOPICCRAWL_DUPLICATES = "shingles"
"""Detector of reprints: shingles, ranked-keywords, exact-text, or the dotted path of a class."""
TOPICCRAWL_DUPLICATES_WINDOW = 30
"""Days between two articles beyond which only the same text is one story; 0: no limit."""
TOPICCRAWL_DUPLICATES_ARTICLES = 1_000_000
"""Articles that a new one is compared with, the newest; about 210 bytes of RAM each."""
TOPICCRAWL_STORE_GROUP_SIZE = 100
"""Maximum of articles that are stored together."""
TOPICCRAWL_STORE_GROUP_AGE = 0.05
"""Maximum of seconds that an article waits to be stored together with others."""

# -- Messages and log (docs/operations.md) ------------------------------------------------------
TOPICCRAWL_LANGUAGE = ""
"""Language of messages to people, en or zh; empty: that of the environment (LANG). The log is
English."""
TOPICCRAWL_LOG_JSON = False
"""Write the log as JSON, one object a line, from the start of the crawl."""

# -- Hooks: add-ons take the orders between ------------------------------------------------------
ADDONS = {"topiccrawl.Addon": 100}
SCHEDULER = "topiccrawl.scheduler.scheduler.FrontierScheduler"
"""The scheduler that keeps requests in the frontier."""
DOWNLOAD_HANDLERS = {
    "http": "topiccrawl.scheduler.sendgate.SendGateHandler",
    "https": "topiccrawl.scheduler.sendgate.SendGateHandler",
    "file": None, "ftp": None, "s3": None, "data": None,
}  # fmt: skip
"""Web pages only: no page, feed or imported frontier makes the crawler read a file."""
DOWNLOADER_MIDDLEWARES = {
    "topiccrawl.middlewares.reading.ReadingMiddleware": 30,  # gets what the spider gets
    "topiccrawl.middlewares.linkfilter.UrlGateMiddleware": 45,
    # The frontier does these, for all requests with one clock per host:
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
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
    "topiccrawl.extensions.marking.MarkedTopic": 520,
    "topiccrawl.extensions.stopping.YieldStop": 520,
    "topiccrawl.extensions.retry.StartRetry": 522,
    "topiccrawl.extensions.watchdog.Watchdog": 530,
    "topiccrawl.extensions.garbage.RareCollections": 540,
}
ITEM_PIPELINES = {
    "topiccrawl.pipelines.store.StorePipeline": 800,  # decides what is new
    "topiccrawl.pipelines.dedup.DedupPipeline": 900,  # drops what is not, for feeds
}
DEFAULT_DROPITEM_LOG_LEVEL = "INFO"
"""INFO: a dropped reprint is no reason for a warning."""
FEED_EXPORT_ENCODING = "utf-8"
"""Encoding of feeds: Chinese text stays readable."""
FEED_EXPORTERS = {"csv": "topiccrawl.pipelines.csvfeed.DefusedCsvExporter"}
"""Escapes cells that a spreadsheet would run as formulas (docs/storage.md)."""
LOG_LEVEL = "INFO"
"""Lowest level that is logged."""
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
"""The event loop of asyncio, which the stores and the servers need."""

# -- Add-ons ------------------------------------------------------------------------------------
_features = (
    "adaptation", "browser", "dashboard", "events", "frames", "mongodb", "pdf", "records", "redis",
    "reprints", "tasks", "url_patterns", "warc", "watch", "webhook",
)  # fmt: skip
"""Folders below ``topiccrawl/addons`` that have settings."""


def _add(name: str, value: object) -> None:
    """Add an add-on's setting: dictionaries and lists to those above."""
    ours = globals().get(name)
    if isinstance(ours, dict) and isinstance(value, dict):
        value = {**ours, **value}
    elif isinstance(ours, list) and isinstance(value, list):
        value = [*ours, *value]
    globals()[name] = value


for _feature in _features:
    for _name, _value in vars(import_module(f"topiccrawl.addons.{_feature}.settings")).items():
        if _name.isupper():
            _add(_name, _value)

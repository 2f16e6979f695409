"""The switchboard: which part sits on which hook, and every number with its unit and reason.

Any of these can be overridden as usual with ``-s NAME=VALUE``; Scrapy's own settings keep their
meaning.
"""

from __future__ import annotations

from topiccrawl import __version__

BOT_NAME = "topiccrawl"
SPIDER_MODULES = [
    "topiccrawl.spiders",
    "topiccrawl.addons.records.spider",
    "topiccrawl.addons.tasks.spider",
]
NEWSPIDER_MODULE = "topiccrawl.spiders"
COMMANDS_MODULE = "topiccrawl.commands"

# -- State --------------------------------------------------------------------------------------
TOPICCRAWL_DATA_DIR = "data"
"""Folder of all state: frontiers (one a topic) and the article store."""
MONGODB_URI = ""
"""``mongodb://host/database``: articles and what was learnt go there; empty: the environment's
MONGODB_URI, else SQLite in the folder. Options of the URI count before ours."""

TOPICCRAWL_CRAWL = ""
"""Name of the crawl: a frontier of its own; empty: the topic's slug. Letters, digits, ``.-_``."""

# -- Several nodes on one crawl: the frontier in Redis (docs/multi-node.md) ----------------------
REDIS_URL: str | None = None
"""Such as redis://HOST:6379/0: the frontier lies there, and nodes with this setting share it; None:
the environment's REDIS_URL, "": none."""
REDIS_HOST: str | None = None
REDIS_PORT: int | None = None
REDIS_DB: int | None = None
"""The same in parts, as in scrapy-redis."""
REDIS_PARAMS: dict[str, object] | None = None
"""Further arguments of the client, such as {"password": "..."}."""
REDIS_START_URLS_KEY = "%(name)s:start_urls"
"""Where operators put start URLs; ``name`` is the spider's."""
REDIS_START_URLS_BATCH_SIZE = 0
"""Start URLs that a node takes at once; 0: CONCURRENT_REQUESTS."""
MAX_IDLE_TIME_BEFORE_CLOSE: float | None = None
"""Seconds without work after which a node that waits for start URLs ends; None: it waits for none,
0: for ever."""
SCHEDULER_PERSIST = True
"""The crawl stays in Redis when its last node ends."""
TOPICCRAWL_NODE_SECONDS = 10.0
"""Seconds without a word after which the other nodes give a node up and fetch its part."""

# -- Steering and tasks (docs/tasks.md) ---------------------------------------------------------
TOPICCRAWL_CONTROL = True
"""A crawl follows ``scrapy control pause|resume|cancel|speed`` and the dashboard's buttons."""
TOPICCRAWL_WORK_SITES = 4
"""Sites that a worker (``scrapy work``) crawls at once; a process is busy with about so many."""
TOPICCRAWL_WORK_QUANTUM = 60.0
"""Seconds after which a site passes on to another task that waits for it, or a slot to another
site; the hand-over costs about a second."""
TOPICCRAWL_TURN = False
"""Set by workers: the crawl is one turn of a task's, so nobody else crawls the same meanwhile."""

# -- Who else gets it --------------------------------------------------------------------------
TOPICCRAWL_STORE_LISTENERS = {"topiccrawl.addons.webhook.courier.courier_of": 100}
"""Dotted paths of functions that build listeners to stored articles, and their order
(docs/storage.md)."""
TOPICCRAWL_WEBHOOK = ""
"""Address that is told of each new story by a signed POST, such as https://example.com/news; here
or in the environment (docs/webhook.md)."""
TOPICCRAWL_WEBHOOK_SECRET = ""
"""Signs it: 16 bytes or more. In the environment others do not see it in the list of processes."""

WARC_DIR = ""
"""Folder of WARC files with all that is fetched; empty: none are written."""
WARC_SIZE = 1_000_000_000
"""Bytes from which a WARC file is closed and the next one begun."""

# -- Manners: polite before fast ----------------------------------------------------------------
USER_AGENT = f"topiccrawl/{__version__} (focused news crawler)"
"""Says what we are. Put an address there where site owners reach you."""
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "topiccrawl"
"""Product token looked up in robots.txt."""
TOPICCRAWL_OWN_HOSTS = ""
"""Hosts whose robots.txt is not asked, such as your SearXNG (its own forbids searches), separated
by commas. Only what you run, or whose owner agreed."""
DOWNLOAD_DELAY = 1.0
"""Seconds between two requests to one host; a host's crawl-delay raises it."""
CONCURRENT_REQUESTS_PER_DOMAIN = 1
"""Requests in flight per host."""
CONCURRENT_REQUESTS = 16
"""Requests in flight over all hosts."""
CONCURRENT_ITEMS = 16
"""What a page gives, at work at once. Scrapy starts so many tasks for each answer: its own 100 take
.9 ms, these .15; a page has an article or none."""
AUTOTHROTTLE_ENABLED = True
"""The frontier slows down where a host answers slowly, by the rule of Scrapy's AutoThrottle."""
AUTOTHROTTLE_START_DELAY = 1.0
"""Seconds; as DOWNLOAD_DELAY, since five at first would starve a crawl of many hosts."""
AUTOTHROTTLE_MAX_DELAY = 60.0
AUTOTHROTTLE_TARGET_CONCURRENCY = 1.0
DOWNLOAD_TIMEOUT = 30
"""Seconds; a news page that takes longer is not worth a connection."""
DOWNLOAD_MAXSIZE = 8 * 1024 * 1024
"""Bytes; larger bodies are not news pages."""
METAREFRESH_MAXDELAY = 10
"""Seconds; a longer one is a page that loads itself anew, not one that leads elsewhere."""
COOKIES_ENABLED = True
TELNETCONSOLE_ENABLED = False
"""It would open a port that runs Python."""
REMOTE_CONTROL_ENABLED = False
"""The same."""

# -- Where to begin (docs/discovery.md) ---------------------------------------------------------
TOPICCRAWL_DISCOVER = ""
"""Where URLs to begin with come from, such as searxng:http://localhost:8888; several separated by
commas; empty: the topic's seeds or the default portals. ``-a discover=`` counts before."""
TOPICCRAWL_DISCOVER_PAGES = 5
"""Result pages asked of each provider and query; Baidu shows up to 76."""

# -- Templates (docs/templates.md; method of CN102930059) ----------------------------------------
TOPICCRAWL_SEEDS_AT_ONCE = 32
"""Seeds of a template in work at the same time; bounds memory, and how late a failure counts."""
TOPICCRAWL_SEED_LUCK = 1
"""Of the chance by which seeds are passed over: the same list is drawn the same."""

# -- Order: which link first (methods: Liu, Lin, Gao 2009; Hersovici et al. 1998) ---------------
TOPICCRAWL_STRATEGY = "shark-plus"
"""One of: bfs, best-first, shark, shark-inlink, link-block, shark-plus."""
TOPICCRAWL_LANE_SHARE = ""
"""Pops of priorQueue to pops of normalQueue, such as "1:1"; empty: the strategy's own."""
TOPICCRAWL_PAGES = 0
"""Parsed pages after which a run (of each node) ends, never one more; errors and redirects do not
count. 0 is no bound. CLOSESPIDER_PAGECOUNT counts every answer, and ends later."""
TOPICCRAWL_STOP_YIELD = 0.0
"""Share of relevant pages expected of the next ones, below which the run ends; 0 is off."""
TOPICCRAWL_STOP_AHEAD = 50
"""Pages that the forecast is about: so many of the best queued URLs are looked at."""
TOPICCRAWL_STOP_WINDOW = 200
"""Last fetched pages from which it is learnt what values mean; a run has so many at least."""
TOPICCRAWL_HOST_PAGES = 0
"""Pages fetched per host at most; 0 is no bound."""
TOPICCRAWL_MAX_QUEUED = 20_000_000
"""URLs that wait (on a node) beyond which low values are turned away, counted as ``tail``; 0 is no
bound. This many take about 10 GB of disk and 0.3 GB of RAM; see docs/scale.md."""
TOPICCRAWL_MAX_KNOWN = 0
"""URLs known (on a node) beyond which records of settled ones are let go; 0: none ever. What was
fetched or failed is not fetched again, but ``scrapy why`` says no more of it, and it cannot be
watched; what was only predicted to be low is new to the next page that offers it."""
TOPICCRAWL_SEEN_ERROR = 0.001
"""Share of new URLs that may be lost where records are let go, taken for fetched ones; these are
remembered in two to four bytes each. From 0.000001 to 0.1; see docs/scale.md."""
TOPICCRAWL_RETRY_DELAY = 10.0
"""Seconds before a failed URL is tried again, doubled with each failure; RETRY_* say how often."""
TOPICCRAWL_RETRY_MAX_DELAY = 600.0
"""Longest wait in seconds, also for a server's Retry-After."""

TOPICCRAWL_EXTRACT = True
"""Take articles from relevant pages; off, a crawl only explores."""

TOPICCRAWL_JS = False
"""Render pages of sites whose plain pages are empty, in a browser; needs topiccrawl[js]."""
TOPICCRAWL_BROWSER = ""
"""Path of a Chromium for it; empty: the one that ``playwright install`` brought."""
TOPICCRAWL_FRAMES = False
"""Learn where each site's bodies stand and what lines it repeats; see docs/extraction.md."""
TOPICCRAWL_ARTICLE_PAGES = 20
"""Pages of one article that are fetched and joined at most; 1: every page is an article."""

# -- The topic learns from the crawl (Method of CN102073730) -------------------------------------
TOPICCRAWL_ADAPTATION = "auto"
"""words: what relevant pages have in common raises links; genetic: as published; off; auto: words
with shark-plus, off with the strategies of others, which stay as published."""
TOPICCRAWL_ADAPTER = "topiccrawl.addons.adaptation.extension.learner_of"
"""Dotted path of the function that makes what learns (``topiccrawl.topics.adapter``); empty: none.
"""
TOPICCRAWL_ADAPT_WARM = 20
"""Pages before the first change."""
TOPICCRAWL_ADAPT_EVERY = 20
"""words: pages between two changes at least; genetic: relevant pages between two."""
TOPICCRAWL_ADAPT_GROWTH = 1.5
"""words: a change also waits for so many times the pages of the last one."""
TOPICCRAWL_ADAPT_SAMPLE = 50
"""words: pages from which on only a part is learnt, each with a weight to match."""
TOPICCRAWL_ADAPT_WORDS = 5_000
"""words: learnt words at most."""
TOPICCRAWL_ADAPT_HALF = 0.05
"""words: relevance at which a page counts half for and half against."""
TOPICCRAWL_ADAPT_GAIN = 0.2
"""words: what learnt words add to a link's score in [0, 1] at most."""
TOPICCRAWL_ADAPT_FEEDBACK_SIZE = 20
"""genetic: most relevant documents that are learnt from."""
TOPICCRAWL_ADAPT_ANCHORS = False
"""genetic: learn from pages' best link blocks (the source's documents) instead of pages."""
TOPICCRAWL_ADAPT_TERMS = 20
"""genetic: learnt terms at most."""
TOPICCRAWL_ADAPT_OWN_SHARE = 0.5
"""genetic: what the user's terms keep of the topic's squared length at least."""
TOPICCRAWL_ADAPT_FLOOR: float | None = None
"""genetic: lowest value of the limit above which a page is relevant; None: the topic's own."""
TOPICCRAWL_ADAPT_FLOOR_QUANTILE = 0.05
"""genetic: quantile of recent scores that this limit follows."""
TOPICCRAWL_ADAPT_CEILING_QUANTILE = 0.8
"""genetic: quantile of recent scores that the limit of priorQueue follows."""
TOPICCRAWL_ADAPT_SEED = 1
"""Of the adaptation's chance: the same crawl learns the same."""

# -- Traps (Method of CN103970788: long and deep URLs are not fetched) --------------------------
TOPICCRAWL_TRAPS_ENABLED = True
URLLENGTH_LIMIT = 512
"""Characters; news URLs stay below 200."""
TOPICCRAWL_TRAP_SLASHES = 12
"""Slashes in a URL's path at most."""

# -- News (Method of CN101694658: what is no news by its URL is not downloaded) ------------------
TOPICCRAWL_NEWS_FILTER = False
"""Learn each site's URL patterns and drop links that are no news; see docs/url-patterns.md."""

# -- Reprints (docs/duplicates.md) and how articles are stored ----------------------------------
TOPICCRAWL_DUPLICATES = "shingles"
"""How reprints are told: shingles, ranked-keywords or exact-text."""
TOPICCRAWL_DUPLICATES_WINDOW = 30
"""Days between two articles beyond which only the same text is one story; 0 is no bound."""
TOPICCRAWL_DUPLICATES_ARTICLES = 1_000_000
"""Articles that a new one is compared with, the newest; about 210 bytes of RAM each."""
TOPICCRAWL_STORE_GROUP_SIZE = 100
"""Articles that are stored together at most."""
TOPICCRAWL_STORE_GROUP_AGE = 0.05
"""Seconds an article waits for others at most, so that they are stored together."""

# -- What the operator sees (docs/operations.md) -------------------------------------------------
TOPICCRAWL_DASHBOARD = "off"
"""Where the crawl serves its page and metrics: on (127.0.0.1:8420), a port (0: a free one) or
ADDRESS:PORT; off. What other machines can reach asks for a token."""
TOPICCRAWL_DASHBOARD_TOKEN = ""
"""What a browser or a program has to know; empty: the environment's, else none on loopback and one
made at the start elsewhere."""
TOPICCRAWL_DASHBOARD_NAMES: list[str] = []
"""Names that the page goes by besides its addresses, as behind a proxy; others are refused. The
environment's, separated by commas, are added."""
TOPICCRAWL_REPORT = ""
"""A file that ends in .html, or a folder: a report is written there when the crawl ends; empty:
none is. ``scrapy report`` writes one at any time."""
TOPICCRAWL_REPORT_LANGUAGE = "en"
"""Of reports: en or zh."""
TOPICCRAWL_LOG_JSON = False
"""The log as JSON, one object a line, from the moment that the crawl begins."""

# -- Watching: -a watch=1 (docs/watching.md) -----------------------------------------------------
TOPICCRAWL_REVISIT_POLICY = "yield"
"""yield: hubs that bring new articles on topic come more often; uniform: all equally often."""
TOPICCRAWL_REVISIT_RATE = 0.0
"""yield: visits of hubs an hour, all hubs (of a node) together; 0: 60 for each host that has hubs,
and a tenth of what DOWNLOAD_DELAY allows at most. Hosts' delays count besides."""
TOPICCRAWL_REVISIT_SHORTEST = 60.0
"""yield: seconds between two visits of a hub at least."""
TOPICCRAWL_REVISIT_LONGEST = 86_400.0
"""yield: seconds between two visits of a hub at most: what brought nothing for long may again."""
TOPICCRAWL_REVISIT_HUB = 3_600.0
"""uniform: seconds between two visits of a hub."""
TOPICCRAWL_REVISIT_ARTICLE = 21_600.0
"""Seconds until an article is looked at again for the first time; then at twice its age each time:
most corrections come within hours."""
TOPICCRAWL_REVISIT_DAYS = 30.0
"""Days after which an article is left alone; 0: articles are never looked at again."""
TOPICCRAWL_GONE_SECONDS = 600.0
"""Seconds between the two answers 404 or 410 that make a page gone, at least."""

# -- Replays of recorded crawls (docs/focus.md) --------------------------------------------------
TOPICCRAWL_COLLECTIONS = {
    ".warc": "topiccrawl.addons.warc.collection.recorded",
    ".warc.gz": "topiccrawl.addons.warc.collection.recorded",
}
"""Endings of files that ``scrapy simulate`` reads as collections besides ``*.web.jsonl.gz``, and
the functions that read them: a path in, answers out (url, status, headers, body)."""

# -- Hooks --------------------------------------------------------------------------------------
ADDONS = {
    "topiccrawl.addons.browser.browser.BrowserAddon": 100,
}
SCHEDULER = "topiccrawl.scheduler.scheduler.FrontierScheduler"
DOWNLOAD_HANDLERS = {
    "http": "topiccrawl.scheduler.door.DoorHandler",
    "https": "topiccrawl.scheduler.door.DoorHandler",
}
DOWNLOADER_MIDDLEWARES = {
    "topiccrawl.addons.url_patterns.middleware.NewsGateMiddleware": 50,
    "topiccrawl.addons.watch.middleware.ConditionalMiddleware": 60,
    # The frontier does these, for all requests with one clock per host:
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,
    "topiccrawl.middlewares.cookies.OfflineCookiesMiddleware": 700,
    "topiccrawl.addons.warc.middleware.ArchiveMiddleware": 580,  # behind decompression (590)
    "topiccrawl.addons.warc.middleware.RedirectArchiveMiddleware": 610,  # before redirects (600)
}
SPIDER_MIDDLEWARES = {
    "topiccrawl.middlewares.lease.LeaseMiddleware": 10,  # outermost: sees what really leaves
    "topiccrawl.addons.watch.middleware.WatchMiddleware": 20,
    "topiccrawl.addons.url_patterns.middleware.NewsFilterMiddleware": 550,  # after the rules below
    "topiccrawl.middlewares.linkfilter.LinkFilterMiddleware": 600,
}
EXTENSIONS = {
    "scrapy.extensions.throttle.AutoThrottle": None,  # the frontier follows AUTOTHROTTLE_*
    "topiccrawl.extensions.jsonlog.PlainLog": 99,
    "topiccrawl.extensions.jsonlog.JsonLog": 100,
    "topiccrawl.extensions.figures.CrawlFigures": 490,
    "topiccrawl.extensions.progress.Progress": 500,
    "topiccrawl.extensions.outcome.CrawlOutcome": 510,
    "topiccrawl.extensions.control.CrawlControl": 515,
    "topiccrawl.addons.adaptation.extension.TopicAdaptation": 520,
    "topiccrawl.addons.frames.extension.SiteFrames": 520,
    "topiccrawl.extensions.budget.PageBudget": 520,
    "topiccrawl.extensions.stopping.YieldStop": 520,
    "topiccrawl.addons.dashboard.extension.Dashboard": 530,
    "topiccrawl.addons.dashboard.reportextension.CrawlReport": 540,
    "topiccrawl.addons.watch.extension.Watch": 520,
    "topiccrawl.extensions.anew.Anew": 520,
    "topiccrawl.addons.watch.eventitems.ChangeEvents": 520,
}
ITEM_PIPELINES = {
    "topiccrawl.addons.records.pipeline.RecordPipeline": 700,  # templates
    "topiccrawl.pipelines.store.StorePipeline": 800,  # decides what is new
    "topiccrawl.pipelines.dedup.DedupPipeline": 900,  # drops what is not, for feeds
}
DEFAULT_DROPITEM_LOG_LEVEL = "INFO"
"""A reprint that is dropped is no reason for a warning."""
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {"csv": "topiccrawl.pipelines.csvfeed.DefusedCsvExporter"}
"""Cells that a spreadsheet would run as formulas are text (docs/storage.md)."""
LOG_LEVEL = "INFO"
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

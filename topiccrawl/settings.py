"""Scrapy settings of the project: the part on each hook, and each number with unit and reason.

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
"""Folder of all state: the frontiers (one per topic) and the article store."""
MONGODB_URI = ""
"""``mongodb://host/database``: database of the articles and of what was learnt; empty: the
environment's MONGODB_URI, else SQLite in the folder. Options of the URI override ours."""

TOPICCRAWL_CRAWL = ""
"""Name of the crawl: a frontier of its own; empty: the topic's slug. Letters, digits, ``.-_``."""

# -- Several nodes on one crawl: the frontier in Redis (docs/multi-node.md) ----------------------
REDIS_URL: str | None = None
"""Redis that stores the frontier, such as redis://HOST:6379/0; nodes with the same setting share
it. None: the environment's REDIS_URL, "": none."""
REDIS_HOST: str | None = None
REDIS_PORT: int | None = None
REDIS_DB: int | None = None
"""The same in parts, as in scrapy-redis."""
REDIS_PARAMS: dict[str, object] | None = None
"""Further arguments of the client, such as {"password": "..."}."""
REDIS_START_URLS_KEY = "%(name)s:start_urls"
"""Redis key of the start URLs that operators add; ``name`` is the spider's."""
REDIS_START_URLS_BATCH_SIZE = 0
"""Start URLs that a node takes at once; 0: CONCURRENT_REQUESTS."""
MAX_IDLE_TIME_BEFORE_CLOSE: float | None = None
"""Seconds without work after which a node that waits for start URLs ends; None: it does not wait,
0: it waits for ever."""
SCHEDULER_PERSIST = True
"""The crawl stays in Redis when its last node ends."""
TOPICCRAWL_NODE_SECONDS = 10.0
"""Seconds without a heartbeat after which a node has timed out: the others fetch its part."""

# -- Steering and tasks (docs/tasks.md) ---------------------------------------------------------
TOPICCRAWL_CONTROL = True
"""Follow ``scrapy control pause|resume|cancel|speed`` and the dashboard's buttons."""
TOPICCRAWL_WORK_SITES = 4
"""Sites that a worker (``scrapy work``) crawls at once; about this many keep a process busy."""
TOPICCRAWL_WORK_QUANTUM = 60.0
"""Seconds after which a site goes to another task that waits for it, or a slot to another site; the
change takes about a second."""
TOPICCRAWL_TURN = False
"""Set by workers: the crawl is one turn of a task, so no other process crawls it meanwhile."""

# -- Listeners, webhook, WARC -------------------------------------------------------------------
TOPICCRAWL_STORE_LISTENERS = {"topiccrawl.addons.webhook.courier.courier_of": 100}
"""Dotted paths of functions that build listeners to stored articles, and their order
(docs/storage.md)."""
TOPICCRAWL_WEBHOOK = ""
"""Address that gets a signed POST for each new story, such as https://example.com/news; here or in
the environment (docs/webhook.md)."""
TOPICCRAWL_WEBHOOK_SECRET = ""
"""Key of the signature: 16 bytes or more. In the environment, the list of processes hides it."""

WARC_DIR = ""
"""Folder of WARC files with all that is fetched; empty: none are written."""
WARC_SIZE = 1_000_000_000
"""Bytes from which a WARC file is closed and the next one started."""

# -- Politeness: polite before fast -------------------------------------------------------------
USER_AGENT = f"topiccrawl/{__version__} (focused news crawler)"
"""Identifies the crawler. Add an address where site owners can reach you."""
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "topiccrawl"
"""Product token looked up in robots.txt."""
TOPICCRAWL_OWN_HOSTS = ""
"""Hosts whose robots.txt is ignored, such as your SearXNG (its own forbids searches), separated by
commas. Name only hosts that you run, or whose owner agreed."""
DOWNLOAD_DELAY = 1.0
"""Seconds between two requests to one host; a host's crawl-delay raises it."""
CONCURRENT_REQUESTS_PER_DOMAIN = 1
"""Requests in flight per host."""
CONCURRENT_REQUESTS = 16
"""Requests in flight over all hosts."""
CONCURRENT_ITEMS = 16
"""Items of a page that are processed at once. Scrapy starts this many tasks for each response: its
own 100 take .9 ms, these .15; a page has one article or none."""
AUTOTHROTTLE_ENABLED = True
"""The frontier slows down where a host answers slowly, by the rule of Scrapy's AutoThrottle."""
AUTOTHROTTLE_START_DELAY = 1.0
"""Seconds; as DOWNLOAD_DELAY, since five at first would starve a crawl of many hosts."""
AUTOTHROTTLE_MAX_DELAY = 60.0
AUTOTHROTTLE_TARGET_CONCURRENCY = 1.0
DOWNLOAD_TIMEOUT = 30
"""Seconds; a news page that takes longer is skipped."""
DOWNLOAD_MAXSIZE = 8 * 1024 * 1024
"""Bytes; larger bodies are not news pages."""
METAREFRESH_MAXDELAY = 10
"""Seconds; with a longer delay a page reloads itself and does not redirect."""
COOKIES_ENABLED = True
TELNETCONSOLE_ENABLED = False
"""Off: it opens a port that runs Python."""
REMOTE_CONTROL_ENABLED = False
"""Off, for the same reason."""

# -- Where to begin (docs/discovery.md) ---------------------------------------------------------
TOPICCRAWL_DISCOVER = ""
"""Providers of start URLs, such as searxng:http://localhost:8888; several separated by commas;
empty: the topic's seeds or the default portals. ``-a discover=`` overrides it."""
TOPICCRAWL_DISCOVER_PAGES = 5
"""Result pages requested per provider and query; Baidu shows up to 76."""

# -- Templates (docs/templates.md; method of CN102930059) ----------------------------------------
TOPICCRAWL_SEEDS_AT_ONCE = 32
"""Seeds of a template processed at the same time; bounds memory and the delay of failures."""
TOPICCRAWL_SEED_LUCK = 1
"""Seed of the random generator that samples seeds; fixed for reproducible runs."""

# -- Order: which link first (methods: Liu, Lin, Gao 2009; Hersovici et al. 1998) ---------------
TOPICCRAWL_STRATEGY = "shark-plus"
"""One of: bfs, best-first, shark, shark-inlink, link-block, shark-plus."""
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

TOPICCRAWL_EXTRACT = True
"""Extract articles from relevant pages; off: a crawl only explores."""

TOPICCRAWL_JS = False
"""Render pages of sites whose plain pages are empty, in a browser; needs topiccrawl[js]."""
TOPICCRAWL_BROWSER = ""
"""Path of the Chromium to use; empty: the one that ``playwright install`` installed."""
TOPICCRAWL_FRAMES = False
"""Learn the place of each site's article bodies and its repeated lines; see docs/extraction.md."""
TOPICCRAWL_ARTICLE_PAGES = 20
"""Maximum of pages of one article that are fetched and joined; 1: each page is an article."""

# -- The topic learns from the crawl (Method of CN102073730) -------------------------------------
TOPICCRAWL_ADAPTATION = "auto"
"""words: what relevant pages have in common raises links; genetic: as published; off; auto: words
with shark-plus, off with the strategies of others, which stay as published."""
TOPICCRAWL_ADAPTER = "topiccrawl.addons.adaptation.extension.learner_of"
"""Dotted path of the function that builds the adapter (``topiccrawl.topics.adapter``); empty: none.
"""
TOPICCRAWL_ADAPT_WARM = 20
"""Pages before the first change."""
TOPICCRAWL_ADAPT_EVERY = 20
"""words: pages between two changes at least; genetic: relevant pages between two."""
TOPICCRAWL_ADAPT_GROWTH = 1.5
"""words: a change also waits until the pages have grown by this factor since the last one."""
TOPICCRAWL_ADAPT_SAMPLE = 50
"""words: pages beyond which only a weighted sample is learnt from."""
TOPICCRAWL_ADAPT_WORDS = 5_000
"""words: maximum of learnt words."""
TOPICCRAWL_ADAPT_HALF = 0.05
"""words: relevance at which a page counts half for and half against."""
TOPICCRAWL_ADAPT_GAIN = 0.2
"""words: maximum that learnt words add to a link's score in [0, 1]."""
TOPICCRAWL_ADAPT_FEEDBACK_SIZE = 20
"""genetic: most relevant documents that are learnt from."""
TOPICCRAWL_ADAPT_ANCHORS = False
"""genetic: learn from pages' best link blocks (the source's documents) instead of pages."""
TOPICCRAWL_ADAPT_TERMS = 20
"""genetic: maximum of learnt terms."""
TOPICCRAWL_ADAPT_OWN_SHARE = 0.5
"""genetic: minimum share of the topic's squared length that the user's terms keep."""
TOPICCRAWL_ADAPT_FLOOR: float | None = None
"""genetic: lowest value of the limit above which a page is relevant; None: the topic's own."""
TOPICCRAWL_ADAPT_FLOOR_QUANTILE = 0.05
"""genetic: quantile of recent scores that this limit follows."""
TOPICCRAWL_ADAPT_CEILING_QUANTILE = 0.8
"""genetic: quantile of recent scores that the limit of priorQueue follows."""
TOPICCRAWL_ADAPT_SEED = 1
"""Seed of the adaptation's random generator; fixed for reproducible runs."""

# -- Traps (Method of CN103970788: long and deep URLs are not fetched) --------------------------
TOPICCRAWL_TRAPS_ENABLED = True
"""Reject URLs that look like crawler traps."""
URLLENGTH_LIMIT = 512
"""Characters; news URLs stay below 200."""
TOPICCRAWL_TRAP_SLASHES = 12
"""Maximum of slashes in a URL's path."""

# -- News (Method of CN101694658: URLs that do not look like news are skipped) -------------------
TOPICCRAWL_NEWS_FILTER = False
"""Learn each site's URL patterns and drop links that are no news; see docs/url-patterns.md."""

# -- Reprints (docs/duplicates.md) and how articles are stored ----------------------------------
TOPICCRAWL_DUPLICATES = "shingles"
"""Method that detects reprints: shingles, ranked-keywords or exact-text."""
TOPICCRAWL_DUPLICATES_WINDOW = 30
"""Days between two articles beyond which only the same text is one story; 0: no limit."""
TOPICCRAWL_DUPLICATES_ARTICLES = 1_000_000
"""Articles that a new one is compared with, the newest; about 210 bytes of RAM each."""
TOPICCRAWL_STORE_GROUP_SIZE = 100
"""Maximum of articles that are stored together."""
TOPICCRAWL_STORE_GROUP_AGE = 0.05
"""Maximum of seconds that an article waits to be stored together with others."""

# -- Dashboard, reports, log (docs/operations.md) ------------------------------------------------
TOPICCRAWL_DASHBOARD = "off"
"""Address of the crawl's page and metrics: on (127.0.0.1:8420), a port (0: a free one) or
ADDRESS:PORT; off. An address that other machines can reach requires a token."""
TOPICCRAWL_DASHBOARD_TOKEN = ""
"""Token that browsers and programs have to send; empty: the environment's, else none on loopback
and elsewhere one generated at the start."""
TOPICCRAWL_DASHBOARD_NAMES: list[str] = []
"""Host names of the page besides its addresses, as behind a proxy; others are refused. The
environment's, separated by commas, are added."""
TOPICCRAWL_REPORT = ""
"""A file that ends in .html, or a folder: a report is written there when the crawl ends; empty:
none is. ``scrapy report`` writes one at any time."""
TOPICCRAWL_REPORT_LANGUAGE = "en"
"""Language of reports: en or zh."""
TOPICCRAWL_LOG_JSON = False
"""Write the log as JSON, one object a line, from the start of the crawl."""

# -- Watching: -a watch=1 (docs/watching.md) -----------------------------------------------------
TOPICCRAWL_REVISIT_POLICY = "yield"
"""yield: hubs with more new articles on topic are visited more often; uniform: all alike."""
TOPICCRAWL_REVISIT_RATE = 0.0
"""yield: visits per hour, all hubs (of a node) together; 0: 60 for each host that has hubs, but at
most a tenth of what DOWNLOAD_DELAY allows. Hosts' delays apply as well."""
TOPICCRAWL_REVISIT_SHORTEST = 60.0
"""yield: minimum of seconds between two visits of a hub."""
TOPICCRAWL_REVISIT_LONGEST = 86_400.0
"""yield: maximum of seconds between two visits of a hub: a silent hub may bring news again."""
TOPICCRAWL_REVISIT_HUB = 3_600.0
"""uniform: seconds between two visits of a hub."""
TOPICCRAWL_REVISIT_ARTICLE = 21_600.0
"""Seconds until the first revisit of an article; then at twice its age each time: most corrections
come within hours."""
TOPICCRAWL_REVISIT_DAYS = 30.0
"""Days after which an article is no longer revisited; 0: articles are never revisited."""
TOPICCRAWL_GONE_SECONDS = 600.0
"""Minimum of seconds between the two 404 or 410 responses that mark a page as gone."""

# -- Replays of recorded crawls (docs/focus.md) --------------------------------------------------
TOPICCRAWL_COLLECTIONS = {
    ".warc": "topiccrawl.addons.warc.collection.recorded",
    ".warc.gz": "topiccrawl.addons.warc.collection.recorded",
}
"""File extensions that ``scrapy simulate`` reads as collections besides ``*.web.jsonl.gz``, and the
functions that read them: from a path to responses (url, status, headers, body)."""

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
    "topiccrawl.middlewares.linkfilter.UrlGateMiddleware": 45,
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
    "topiccrawl.middlewares.lease.LeaseMiddleware": 10,  # outermost: gets the final output
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
    "topiccrawl.extensions.marking.MarkedTopic": 520,
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
"""INFO: a dropped reprint is no reason for a warning."""
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {"csv": "topiccrawl.pipelines.csvfeed.DefusedCsvExporter"}
"""Escapes cells that a spreadsheet would run as formulas (docs/storage.md)."""
LOG_LEVEL = "INFO"
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

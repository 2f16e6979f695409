"""Settings of crawls that watch pages, -a watch=1 (docs/watching.md)."""

TOPICCRAWL_REVISIT_POLICY = "yield"
"""yield: hubs with more new articles on topic are visited more often; uniform: all hubs are visited
equally often."""
TOPICCRAWL_REVISIT_RATE = 0.0
"""yield: visits per hour of all hubs together (of each node); 0: 60 for each host with hubs, but at
most a tenth of the requests that DOWNLOAD_DELAY allows. Hosts' delays apply as well."""
TOPICCRAWL_REVISIT_SHORTEST = 60.0
"""yield: minimum number of seconds between two visits of a hub."""
TOPICCRAWL_REVISIT_LONGEST = 86_400.0
"""yield: maximum number of seconds between two visits of a hub, also without new articles."""
TOPICCRAWL_REVISIT_HUB = 3_600.0
"""uniform: seconds between two visits of a hub."""
TOPICCRAWL_REVISIT_ARTICLE = 21_600.0
"""Seconds until the first revisit of an article; each further revisit is at twice its age, as most
corrections come within hours."""
TOPICCRAWL_REVISIT_DAYS = 30.0
"""Days after which an article is no longer revisited; 0: articles are never revisited."""
TOPICCRAWL_GONE_SECONDS = 600.0
"""Minimum number of seconds between the two 404 or 410 responses that mark a page as gone."""

DOWNLOADER_MIDDLEWARES = {"topiccrawl.addons.watch.middleware.ConditionalMiddleware": 60}
SPIDER_MIDDLEWARES = {"topiccrawl.addons.watch.middleware.WatchMiddleware": 20}
EXTENSIONS = {
    "topiccrawl.addons.watch.extension.Watch": 521,
    "topiccrawl.addons.watch.eventitems.ChangeEvents": 523,
}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.watch.extension.policy_of": 200}

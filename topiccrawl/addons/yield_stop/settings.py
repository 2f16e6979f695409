"""Settings of the end of a crawl by its expected yield (docs/stopping.md)."""

TOPICCRAWL_STOP_YIELD = 0.0
"""Expected share of relevant pages among the next ones below which the run ends; 0: off."""
TOPICCRAWL_STOP_AHEAD = 50
"""Number of best queued URLs for which the share is predicted."""
TOPICCRAWL_STOP_WINDOW = 200
"""Number of last fetched pages that calibrate the prediction; a run fetches at least this many."""

EXTENSIONS = {"topiccrawl.addons.yield_stop.extension.YieldStop": 520}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.yield_stop.extension.level_of": 100}

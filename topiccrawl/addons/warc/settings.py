"""Settings of WARC files, to which responses are archived."""

WARC_DIR = ""
"""Folder of WARC files with all fetched responses; if empty, none are written."""
WARC_SIZE = 1_000_000_000
"""Size in bytes at which a WARC file is closed and the next one is started."""

DOWNLOADER_MIDDLEWARES = {
    "topiccrawl.addons.warc.middleware.ArchiveMiddleware": 580,  # behind decompression (590)
    "topiccrawl.addons.warc.middleware.RedirectArchiveMiddleware": 610,  # before redirects (600)
}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.warc.middleware.check_archive": 200}
TOPICCRAWL_COLLECTIONS = {
    ".warc": "topiccrawl.addons.warc.collection.recorded",
    ".warc.gz": "topiccrawl.addons.warc.collection.recorded",
    ".wacz": "topiccrawl.addons.warc.collection.recorded",  # reports that it must be unpacked
}
TOPICCRAWL_DASHBOARD_ROUTES = {"topiccrawl.addons.warc.dashboard.routes": 200}
TOPICCRAWL_FORGET = {"topiccrawl.addons.warc.collection.forget": 100}

"""Settings of the dashboard and the reports (docs/operations.md)."""

from __future__ import annotations

TOPICCRAWL_DASHBOARD = "off"
"""Address of the crawl's dashboard and metrics: on (127.0.0.1:8420), a port (0: a free one),
ADDRESS:PORT, or off."""
TOPICCRAWL_DASHBOARD_TOKEN = ""
"""Token that browsers and programs must send. If empty, the token is that of the environment, or is
generated at the start and logged with the URL. With off, no token is needed, and only loopback
clients are accepted. Set it in the environment or in a settings file, as other users of the machine
can see command lines."""
TOPICCRAWL_DASHBOARD_NAMES: list[str] = []
"""Accepted host names of the dashboard in addition to its addresses, such as that of a proxy. Those
of the environment variable, separated by commas, are added."""
TOPICCRAWL_DASHBOARD_ROUTES: dict[str, int] = {}
"""Dotted paths of functions that build routes of the dashboard's server, and their order."""
TOPICCRAWL_DASHBOARD_SECTIONS: dict[str, int] = {}
"""Dotted paths of functions that return sections of the dashboard, and their order."""
TOPICCRAWL_REPORT = ""
"""File that ends in .html, or folder, for a report at the end of the crawl; if empty, none is
written. ``scrapy report`` writes one at any time."""
TOPICCRAWL_REPORT_LANGUAGE = "en"
"""Language of reports: en or zh."""

EXTENSIONS = {
    "topiccrawl.addons.dashboard.extension.Dashboard": 530,
    "topiccrawl.addons.dashboard.reportextension.CrawlReport": 540,
}
TOPICCRAWL_CHECKS = {
    "topiccrawl.addons.dashboard.address.check_dashboard": 200,
    "topiccrawl.addons.dashboard.reporting.language_of": 200,
}
TOPICCRAWL_EXAMINATIONS = {"ports": "topiccrawl.addons.dashboard.doctor.examine"}

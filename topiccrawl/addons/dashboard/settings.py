"""Settings of the dashboard and the reports (docs/operations.md)."""

from __future__ import annotations

TOPICCRAWL_DASHBOARD = "off"
"""Address of the crawl's page and metrics: on (127.0.0.1:8420), a port (0: a free one) or
ADDRESS:PORT; off."""
TOPICCRAWL_DASHBOARD_TOKEN = ""
"""Token that browsers and programs have to send; empty: the environment's, else one generated at
the start, which the log shows with the URL; off: none, and only loopback is let in. Set it in the
environment or a settings file: other users of the machine see command lines."""
TOPICCRAWL_DASHBOARD_NAMES: list[str] = []
"""Host names of the page besides its addresses, as behind a proxy; others are refused. The
environment's, separated by commas, are added."""
TOPICCRAWL_DASHBOARD_ROUTES: dict[str, int] = {}
"""Dotted paths of functions that build routes of the page's server, and their order."""
TOPICCRAWL_DASHBOARD_SECTIONS: dict[str, int] = {}
"""Dotted paths of functions that return sections of the page, and their order."""
TOPICCRAWL_REPORT = ""
"""A file that ends in .html, or a folder: a report is written there when the crawl ends; empty:
none is. ``scrapy report`` writes one at any time."""
TOPICCRAWL_REPORT_LANGUAGE = "en"
"""Language of reports: en or zh."""

EXTENSIONS = {
    "topiccrawl.addons.dashboard.extension.Dashboard": 530,
    "topiccrawl.addons.dashboard.reportextension.CrawlReport": 540,
}
TOPICCRAWL_CHECKS = {
    "topiccrawl.addons.dashboard.address.address_in": 200,
    "topiccrawl.addons.dashboard.reporting.language_of": 200,
}
TOPICCRAWL_EXAMINATIONS = {"ports": "topiccrawl.addons.dashboard.doctor.examine"}

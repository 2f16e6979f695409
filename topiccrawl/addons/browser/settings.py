"""Settings of the browser: pages that scripts write."""

from __future__ import annotations

TOPICCRAWL_JS = False
"""Render pages of sites whose plain pages are empty, in a browser; needs topiccrawl[js]."""
TOPICCRAWL_BROWSER = ""
"""Path of the Chromium to use; empty: the one that ``playwright install`` installed."""

ADDONS = {"topiccrawl.addons.browser.browser.BrowserAddon": 200}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.browser.browser.wants_browser": 200}

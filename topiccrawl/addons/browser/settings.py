"""Settings of browser rendering, for pages that need JavaScript."""

TOPICCRAWL_JS = False
"""Render pages of sites whose plain pages are empty, in a browser; needs topiccrawl[js]."""
TOPICCRAWL_BROWSER = ""
"""Path of the Chromium to use; if empty, the one installed by ``playwright install``."""

ADDONS = {"topiccrawl.addons.browser.browser.BrowserAddon": 200}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.browser.browser.wants_browser": 200}

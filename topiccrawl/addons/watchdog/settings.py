"""Settings of the watchdog of the event loop (docs/operations.md)."""

TOPICCRAWL_WATCHDOG = 2.0
"""Seconds for which the event loop may be blocked before URL and stack are logged; 0: off."""

EXTENSIONS = {"topiccrawl.addons.watchdog.extension.Watchdog": 530}

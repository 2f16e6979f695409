"""Watchdog add-on: logs pages that block the event loop."""

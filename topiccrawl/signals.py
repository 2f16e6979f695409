"""Signals of our own, sent through Scrapy's signal manager.

page_judged(page, verdict): a topic spider judged a page (``records.Page``, ``records.Verdict``).
"""

from __future__ import annotations

page_judged = object()

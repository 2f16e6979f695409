"""Signals of our own, sent through Scrapy's signal manager.

page_judged(page, verdict): a topic spider judged a page (``records.Page``, ``records.Verdict``).
lease_settled(lease, outcome): a URL's lease has ended (``frontier.contract.Lease``, ``Outcome``).
"""

from __future__ import annotations

page_judged = object()
lease_settled = object()

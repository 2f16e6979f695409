"""Settings of workers that serve tasks (docs/tasks.md)."""

from __future__ import annotations

TOPICCRAWL_WORK_SITES = 4
"""Sites that a worker (``scrapy work``) crawls at once; about this many keep a process busy."""
TOPICCRAWL_WORK_QUANTUM = 60.0
"""Seconds after which a site goes to another task that waits for it, or a slot to another site; the
change takes about a second."""
TOPICCRAWL_SHARED_SECONDS = 86_400.0
"""Seconds for which a page of a site that several tasks want serves all of them, for workers on one
machine; 0: each task fetches its own."""
TOPICCRAWL_ORDER_FILES = ""
"""Folder of the lists and engines that orders over HTTP may name, such as ``list:seeds.txt``;
empty: they name none."""

SPIDER_MODULES = ["topiccrawl.addons.tasks.spider"]
TOPICCRAWL_FORGET = {"topiccrawl.addons.tasks.work.shared.forget": 200}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.tasks.spider.check_work": 200}
TOPICCRAWL_DASHBOARD_ROUTES = {"topiccrawl.addons.tasks.dashboard.routes": 100}

"""Settings of workers and of the HTTP API of tasks (docs/tasks.md)."""

TOPICCRAWL_WORK_SITES = 4
"""Number of sites that a worker (``scrapy work``) crawls at once; about 4 keep a process busy."""
TOPICCRAWL_WORK_QUANTUM = 60.0
"""Seconds after which a turn ends if another task waits for the site, or another site for the slot;
the change takes about a second."""
TOPICCRAWL_SHARED_SECONDS = 86_400.0
"""Seconds for which tasks that crawl the same site share its fetched pages, among workers on one
machine; with 0, each task fetches all pages itself."""
TOPICCRAWL_ORDER_FILES = ""
"""Folder of the lists and engines that tasks created over HTTP may name, such as
``list:seeds.txt``; if empty, they can name no files."""

SPIDER_MODULES = ["topiccrawl.addons.tasks.spider"]
TOPICCRAWL_FORGET = {"topiccrawl.addons.tasks.work.shared.forget": 200}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.tasks.spider.check_work": 200}
TOPICCRAWL_DASHBOARD_ROUTES = {"topiccrawl.addons.tasks.dashboard.routes": 100}

"""What this installation does differently from topiccrawl's own settings.

Servers, folders and secrets come from the environment, so that one image and one egg do for all.
"""

import os

from topiccrawl.settings import *  # noqa: F403 - a project's settings are all of its names
from topiccrawl.settings import USER_AGENT

# Scrapyd starts its jobs in the folder it was started in; say where state is to lie.
TOPICCRAWL_DATA_DIR = os.environ.get("TOPICCRAWL_DATA_DIR", "data")
REDIS_URL = os.environ.get("REDIS_URL") or None
MONGODB_URI = os.environ.get("MONGODB_URI", "")
USER_AGENT = os.environ.get("USER_AGENT") or USER_AGENT  # put an address of yours there
# Names by which browsers and Prometheus reach the dashboard.
TOPICCRAWL_DASHBOARD_NAMES = os.environ.get("TOPICCRAWL_DASHBOARD_NAMES", "").split(",")

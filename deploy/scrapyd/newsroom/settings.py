"""What this installation does differently from topiccrawl's own settings."""

import os

from topiccrawl.settings import *  # noqa: F403 - a project's settings are all of its names

# Scrapyd starts its jobs in the folder it was started in; say where state is to lie.
TOPICCRAWL_DATA_DIR = os.environ.get("TOPICCRAWL_DATA_DIR", "data")
REDIS_URL = os.environ.get("REDIS_URL")
MONGODB_URI = os.environ.get("MONGODB_URI", "")

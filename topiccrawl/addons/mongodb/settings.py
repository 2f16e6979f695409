"""Settings of the store in MongoDB (docs/storage.md)."""

from __future__ import annotations

MONGODB_URI = ""
"""``mongodb://host/database``: database of the articles and of what was learnt; empty: the
environment's MONGODB_URI, else SQLite in the folder. Options of the URI override ours."""

TOPICCRAWL_EXAMINATIONS = {"mongodb": "topiccrawl.addons.mongodb.doctor.examine"}
TOPICCRAWL_STORAGES = {"topiccrawl.addons.mongodb.storage.MongoStorage": 100}

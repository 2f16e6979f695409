"""Settings of the MongoDB add-on (docs/storage.md)."""

MONGODB_URI = ""
"""``mongodb://host/database``: database of articles and documents; "": environment variable
MONGODB_URI, or SQLite in the data folder. Options of the URI override the defaults."""

TOPICCRAWL_EXAMINATIONS = {"mongodb": "topiccrawl.addons.mongodb.doctor.examine"}
TOPICCRAWL_STORAGES = {"topiccrawl.addons.mongodb.storage.MongoStorage": 100}

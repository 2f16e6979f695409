"""MongoDB add-on: storage for crawls on several machines (docs/storage.md)."""

"""Storage for crawls on several machines: MongoDB, one collection per kind. docs/storage.md."""

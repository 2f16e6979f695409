"""Crawls that several nodes share: a frontier stored in Redis, a part of it on each node."""

"""Settings of template crawls (docs/templates.md)."""

TOPICCRAWL_SEEDS_AT_ONCE = 32
"""Number of seeds of a template that are crawled concurrently; bounds memory use and the delay
until failures are counted."""
TOPICCRAWL_SEED_LUCK = 1
"""Seed of the random generator that samples seeds; fixed for reproducible runs."""

ITEM_PIPELINES = {"topiccrawl.addons.records.pipeline.RecordPipeline": 700}
SPIDER_MODULES = ["topiccrawl.addons.records.spider"]

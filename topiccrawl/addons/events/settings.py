"""Settings of events (docs/events.md)."""

TOPICCRAWL_EVENTS = 0
"""Maximum number of days between an article and the nearest one of its event; 0: no events."""

ITEM_PIPELINES = {"topiccrawl.addons.events.pipeline.EventPipeline": 700}  # before the store
TOPICCRAWL_DASHBOARD_SECTIONS = {"topiccrawl.addons.events.section.events": 150}

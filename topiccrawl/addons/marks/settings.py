"""Component that learns from marks of pages (docs/judge.md)."""

EXTENSIONS = {"topiccrawl.addons.marks.extension.MarkedTopic": 520}

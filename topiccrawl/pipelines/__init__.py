"""Item pipelines: store articles, then drop reprints."""

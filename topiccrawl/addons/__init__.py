"""Features beside the core: one folder each, none imports another."""

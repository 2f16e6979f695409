"""Browser add-on: renders pages that need JavaScript."""

"""Pages rendered in a browser."""

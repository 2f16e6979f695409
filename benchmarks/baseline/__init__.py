"""Baseline: results and public surface of the project, stored to detect unintended changes."""

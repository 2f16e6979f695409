"""Frames of sites: where bodies are, which lines repeat."""

"""Frames of sites: boxes of article bodies, and repeated lines."""

"""Frames of sites: the place of article bodies and the lines that repeat."""

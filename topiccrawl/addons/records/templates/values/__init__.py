"""Parsers of values in texts, one per kind; equal values are normalized to one spelling."""

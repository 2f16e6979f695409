"""Marks add-on: learns relevance models from marked pages, and re-scores stored articles."""

"""Benchmarks, one command each; most print a table with a comparison to other software."""

"""Benchmarks, one command each; most print a table against their peers."""

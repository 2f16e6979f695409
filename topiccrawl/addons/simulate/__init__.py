"""Simulation: replays recorded crawls without network access, to compare strategies."""

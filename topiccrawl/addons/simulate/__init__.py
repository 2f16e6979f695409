"""Simulation add-on: replays recorded crawls without network, to compare strategies."""

"""Ports for servers that cannot say which one the system gave them."""

from __future__ import annotations

import random
import socket

OWN = range(15_000, 32_000)
"""Below those that Linux gives to outgoing connections: of thousands that tests open, one would
sooner or later take a port that is free now before its server starts, or while it is away."""


def free_port() -> int:
    """A port of the loopback that is free, and that no process gets unasked."""
    for port in random.SystemRandom().sample(OWN, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port in {OWN}")

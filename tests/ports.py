"""Ports for servers that cannot report a port chosen by the system."""

from __future__ import annotations

import random
import socket

OWN = range(15_000, 32_000)
"""Ports below those of outgoing connections on Linux. Tests open thousands
of connections, one of which would take a free port before its server
starts, or while it is stopped."""


def free_port() -> int:
    """A free port of the loopback that the system does not assign by itself."""
    for port in random.SystemRandom().sample(OWN, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port in {OWN}")

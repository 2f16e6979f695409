"""Laws are about what holds, not how fast: machines that are busy must not break them."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("project", deadline=None)
settings.load_profile("project")

"""Settings of the site frames (docs/extraction.md)."""

from __future__ import annotations

TOPICCRAWL_FRAMES = False
"""Learn the place of each site's article bodies and its repeated lines; see docs/extraction.md."""

EXTENSIONS = {"topiccrawl.addons.frames.extension.SiteFrames": 519}

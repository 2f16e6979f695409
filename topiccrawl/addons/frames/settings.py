"""Settings of the site frames (docs/extraction.md)."""

TOPICCRAWL_FRAMES = False
"""Learn the box of article bodies and the repeated lines of each site (docs/extraction.md)."""

EXTENSIONS = {"topiccrawl.addons.frames.extension.SiteFrames": 519}

"""A NEWS WEB OF OUR OWN: generated from a seed, served on loopback, its truth known."""

from topiccrawl.demo.judge import Judgement, judge
from topiccrawl.demo.server import DemoServer
from topiccrawl.demo.truth import Truth
from topiccrawl.demo.web import Web, generate

__all__ = ["DemoServer", "Judgement", "Truth", "Web", "generate", "judge"]

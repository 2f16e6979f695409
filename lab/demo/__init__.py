"""Demo web: a news web generated from a seed, served on loopback, with known ground truth."""

from lab.demo.judge import Judgement, judge
from lab.demo.server import DemoServer
from lab.demo.truths import Truth
from lab.demo.web import Web, generate

__all__ = ["DemoServer", "Judgement", "Truth", "Web", "generate", "judge"]

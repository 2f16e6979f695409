"""Order in which each strategy fetches pages, from ``scrapy simulate --order``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xxhash

from lab.demo.__main__ import main as demo
from topiccrawl.links.strategies import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
PREFIXES = (100, 500)
"""Numbers of first pages that have a separate hash, to show how early an order differs."""
DEMO = ("--seed", "11", "--pages", "500", "--no-traps", "--no-faults")
STEADY = {
    "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    "SCRAPY_SETTINGS_MODULE": "topiccrawl.settings",
}  # fmt: skip
"""Environment for reproducible results."""


def made() -> dict[str, Any]:
    """Return the orders on a demo web, by topic and strategy."""
    with tempfile.TemporaryDirectory(prefix="topiccrawl-baseline-") as folder:
        pages = Path(folder) / "demo.web.jsonl.gz"
        demo(["collection", str(pages), *DEMO])
        return replayed(pages)


def recorded(name: str) -> dict[str, Any]:
    """Return the orders on a recorded web of ../shared/data, by topic and strategy."""
    return replayed(DATA / f"{name}.web.jsonl.gz")


def replayed(pages: Path) -> dict[str, Any]:
    """Return the orders on a collection with its topics.

    Raises:
        RuntimeError: If the replay fails; with the end of its output.
    """
    topics = pages.with_name(pages.name.replace(".web.jsonl.gz", ".topics.json"))
    with tempfile.TemporaryDirectory(prefix="topiccrawl-baseline-") as folder:
        order = Path(folder) / "order.jsonl"
        chosen = (word for name in NAMES for word in ("--strategy", name))
        line = ["simulate", str(pages), "--truth", str(topics), "--order", str(order), *chosen]
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", *line], cwd=folder, env={**os.environ, **STEADY},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{' '.join(line)}: {(done.stdout + done.stderr)[-2000:]}")
        orders: dict[str, Any] = {}
        for one in map(json.loads, order.read_text(encoding="utf-8").splitlines()):
            orders.setdefault(one["topic"], {})[one["strategy"]] = line_of(
                one["area"], one["pages"]
            )
    return orders


def line_of(area: float, pages: Sequence[str]) -> str:
    """Summarize an order: area, and hashes of its first pages and of all pages.

    >>> line_of(0.51234, ["a", "b"])
    'area 0.5123; 2: b51b25d6'
    """
    ends = [end for end in PREFIXES if end < len(pages)] + [len(pages)]
    hashes = (f"{end}: {digest(*pages[:end])}" for end in ends)
    return "; ".join((f"area {area:.4f}", *hashes))


def digest(*texts: str) -> str:
    """Return eight hexadecimal digits of a hash of texts."""
    return xxhash.xxh64_hexdigest("\0".join(texts).encode())[:8]

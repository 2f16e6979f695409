"""What a kill or a power cut leaves of a log's folder."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from topiccrawl.frontier import log as logs
from topiccrawl.frontier.segment import START

if TYPE_CHECKING:
    import random
    from pathlib import Path


def spoilt(folder: Path, name: str, lengths: dict[int, int], rng: random.Random) -> Path:
    """A copy whose files end anywhere, and with anything, beyond what was committed."""
    copy = folder.with_name("cut")
    shutil.copytree(folder, copy)
    for path in copy.glob(logs.FILES.format(name)):
        data = path.read_bytes()
        length = lengths.get(int(path.stem.removeprefix(f"{name}-")), 0)
        end = rng.choice((length, rng.randrange(length, len(data) + 1), len(data)))
        path.write_bytes(data[:end] + rng.choice((b"", rng.randbytes(50), bytes(START))))
    return copy

"""Compare the embedded frontier with that of another working tree, in alternating runs.

On a shared machine, processor time is more reliable than wall-clock time, and ratios are more
reliable than both: medians of both trees are printed with the ratio of each pair of runs. A run
fills nine tenths of the URLs with new links, then crawls pages of mixed links, pages of recorded
links, and pages of 50,000 hosts. Python's collector is set as in a crawl (``RareCollections``).
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.frontier import HOSTS, RUDE, Run, allocated, anonymous_bytes, percentile
from benchmarks.frontier_web import Largest, Web
from topiccrawl.frontier.contract import Limits
from topiccrawl.frontier.embedded import EmbeddedFrontier

MANY_HOSTS = 50_000
PAGES = 20_000
ROOT = Path(__file__).parents[1]
COLLECT_AFTER = 10_000
"""Objects between two collections in crawls (``topiccrawl.extensions.garbage``)."""


def opened(folder: Path) -> EmbeddedFrontier:
    """A frontier in a folder."""
    return EmbeddedFrontier(folder, Largest(), RUDE, Limits())


def figures(folder: Path, urls: int) -> dict[str, float]:
    """Figures of the package that this process imports."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    before = anonymous_bytes()
    run = Run(opened(folder / "links"), Web(HOSTS))
    run.push(HOSTS)
    run.fill(urls * 9 // 10)
    run.mixed(urls, urls // 10)
    found = {"mixed_cpu links/s": run.links / run.cpu}
    stalls = run.stalls
    run.update(1000)
    found["update_cpu links/s"] = run.links / run.cpu
    found["stall_p99 ms"] = percentile(stalls + run.stalls, 0.99)
    found["stall_max ms"] = percentile(stalls + run.stalls, 1.0)
    found["ram bytes/URL"] = (anonymous_bytes() - before) / urls
    run.frontier.close()
    found["disk bytes/URL"] = allocated(folder / "links") / urls
    start = time.process_time()
    opened(folder / "links").close()
    found["open_close_cpu s"] = time.process_time() - start
    run = Run(opened(folder / "pops"), Web(MANY_HOSTS))
    run.push(MANY_HOSTS)
    run.mixed(2 * MANY_HOSTS, 1)
    run.drain(PAGES)
    found["pops_50k_hosts_cpu pages/s"] = len(run.pops) / run.cpu
    run.frontier.close()
    return found


def measured(tree: Path, parent: Path | None, urls: int) -> dict[str, float]:
    """Figures of a tree, by its own interpreter if it has one, and by this file's code."""
    python = tree / ".venv" / "bin" / "python"
    folder = tempfile.mkdtemp(prefix="frontier-", dir=parent)
    try:
        done = subprocess.run(
            [str(python) if python.exists() else sys.executable, __file__, folder, str(urls)],
            env={**os.environ, "PYTHONPATH": str(tree)}, cwd=tree, check=True,
            stdout=subprocess.PIPE,
        )  # fmt: skip
        return dict(json.loads(done.stdout))
    finally:
        shutil.rmtree(folder)


def beside(tree: Path, runs: int, urls: int, parent: Path | None) -> None:
    """Print medians of this tree and another one, and the ratios of the pairs of runs."""
    pairs = [
        (measured(tree.resolve(), parent, urls), measured(ROOT, parent, urls)) for _ in range(runs)
    ]
    sys.stdout.write(f"{'':28}{'other':>12}{'this':>12}{'ratio':>7}  of the pairs\n")
    for name in pairs[0][0]:
        other, this = (median(pair[side][name] for pair in pairs) for side in (0, 1))
        ratios = sorted(new[name] / old[name] for old, new in pairs)
        each = " ".join(f"{ratio:.2f}" for ratio in ratios)
        sys.stdout.write(f"{name:28}{other:12,.2f}{this:12,.2f}{median(ratios):7.2f}  {each}\n")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(figures(Path(sys.argv[1]), int(sys.argv[2]))))

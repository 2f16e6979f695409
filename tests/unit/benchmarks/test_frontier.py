"""The benchmark of the frontier measures what it says, at a size that says nothing."""

from __future__ import annotations

from benchmarks.frontier import embedded, jobs, measure


def test_figures_have_the_names_that_are_compared() -> None:
    figures = {figure.name: figure.value for figure in measure(embedded, None, 2000)}
    assert figures["embedded_mixed_2000"] > 0
    for name in ("pop_p99_ms", "ram_bytes_url", "disk_bytes_url"):
        assert f"embedded_{name}" in figures
    assert {job.__name__ for job, _ in jobs(2000, ["embedded", "redis", "peers"])} == {
        "embedded", "embedded_pops", "shared", "bare", "scrapy", "scrapy_redis",
    }  # fmt: skip

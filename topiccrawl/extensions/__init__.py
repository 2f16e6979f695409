"""WHAT RUNS BESIDE THE CRAWL: progress and summary."""

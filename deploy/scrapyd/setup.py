"""The egg that scrapyd is given: settings alone; topiccrawl is installed in its environment."""

from setuptools import setup

setup(
    name="newsroom",
    version="1",
    packages=["newsroom"],
    entry_points={"scrapy": ["settings = newsroom.settings"]},
)

"""Build script that ``scrapyd-deploy`` requires; the metadata is in pyproject.toml."""

from setuptools import setup

setup()

"""For ``scrapyd-deploy``, which asks for a file of this name; all that is said is in pyproject."""

from setuptools import setup

setup()

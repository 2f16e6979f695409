"""Benchmarks, one command each; most print a table with a comparison to other software.

docs/benchmarks.md lists the commands. Modules without a command belong to the one that their name
begins with, such as ``frontier_web`` to ``frontier``, and ``reprints`` to ``dedup``. ``output`` and
``processes`` serve all: options and figures, and crawls in processes of their own. ``baseline``
compares the behaviour of the project with a stored one.
"""

"""Adaptation: changes of the topic learnt from crawled pages."""

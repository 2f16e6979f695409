"""COMMANDS: `scrapy why`, `scrapy topics` and others, for the operator at the terminal."""

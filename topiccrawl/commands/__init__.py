"""Terminal commands for the operator: `scrapy why`, `scrapy topics` and others."""

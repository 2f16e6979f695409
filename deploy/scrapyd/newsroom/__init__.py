"""A project of settings for scrapyd; rename it, and add spiders of your own beside it."""

"""Tasks: crawl orders of users, the workers that serve them, and their control."""

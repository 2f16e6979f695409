"""Tasks of users, the workers that crawl for them, and their control."""

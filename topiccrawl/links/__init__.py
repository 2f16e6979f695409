"""Links of a page: read them, score them, keep out of crawler traps."""

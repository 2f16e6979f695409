"""WHAT HAPPENS TO AN ARTICLE: duplicate check, then store."""

"""WHICH NEXT: which URL is fetched next, and what became of every other one."""

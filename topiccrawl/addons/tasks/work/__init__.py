"""Worker: one process that crawls for all tasks."""

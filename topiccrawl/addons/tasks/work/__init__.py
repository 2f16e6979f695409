"""Worker: a process that crawls for all tasks."""

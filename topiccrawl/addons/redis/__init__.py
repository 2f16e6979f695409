"""Redis add-on: crawls of several nodes, with a shared frontier that is stored in Redis."""

"""Own parts outside of the package: each needs no change inside it."""

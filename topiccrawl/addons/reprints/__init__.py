"""Links to stories that are stored already: reprints known before download."""

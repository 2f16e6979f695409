"""WHAT DOES A LINK PROMISE: reading a page's links, scoring them, keeping out of traps."""

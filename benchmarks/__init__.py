"""One command each; every one prints a table against its anchors."""

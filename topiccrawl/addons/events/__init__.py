"""Events: groups of articles about the same event, built as articles arrive."""

"""Events: articles of different authors about one happening, grouped as they arrive."""

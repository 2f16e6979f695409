"""WHAT IS NEWS, WHAT IS NEW: article extraction and duplicates."""

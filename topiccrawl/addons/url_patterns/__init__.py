"""IS IT NEWS, BY ITS URL ALONE? Patterns of a site's URLs, learnt from what its pages were."""

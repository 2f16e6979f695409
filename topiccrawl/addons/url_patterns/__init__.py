"""News by the URL alone: patterns of a site's URLs, learnt from the outcomes of its pages."""

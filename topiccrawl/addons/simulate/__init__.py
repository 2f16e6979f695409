"""WHAT IF: a recorded crawl replayed without network, to see how soon a strategy finds a topic."""

"""HOW DOES A TEMPLATE CRAWL GO ON? Periods, seeds by chance, their pages, what became of them."""

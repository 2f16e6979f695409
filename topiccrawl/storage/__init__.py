"""WHERE IT STAYS: articles and what is known of sites, behind one contract."""

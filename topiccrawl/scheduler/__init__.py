"""THE FRONTIER AS SCRAPY'S SCHEDULER: leases become requests, what happens to them becomes outcomes."""

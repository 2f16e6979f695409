"""THE FRONTIER AS SCRAPY'S SCHEDULER: leases become requests, their ends become outcomes."""

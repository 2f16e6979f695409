"""RULES FOR EVERY REQUEST AND RESPONSE: thin hooks between Scrapy and the rooms that think."""

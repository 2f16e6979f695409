"""HOW DO SEVERAL NODES SHARE ONE CRAWL? A frontier that lies in Redis, a part on each node."""

"""A NEWS WEB OF OUR OWN: generated from a seed, served on loopback, its truth known."""

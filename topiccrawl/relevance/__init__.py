"""HOW MUCH IS THIS PAGE ON TOPIC: scoring pages against the topic."""

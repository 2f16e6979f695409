"""Webhook add-on: sends each new story once, as a signed message, to a URL of the user."""

"""Webhook: sends each new story once, as a signed message, to an address of the user."""

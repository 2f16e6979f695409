"""WHO IS TOLD: each new story once, signed, to an address that its reader names."""

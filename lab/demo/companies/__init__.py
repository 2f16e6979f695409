"""A web of companies of our own: who they are, how they say it, and what is true of them."""

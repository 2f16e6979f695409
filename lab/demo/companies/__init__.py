"""A generated web of companies: their facts, their pages, and the truth about them."""

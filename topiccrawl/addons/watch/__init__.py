"""Watch add-on: revisits of pages, records of their visits, and policies that schedule them."""

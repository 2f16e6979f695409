"""Revisits of pages: records of their visits, and the policies that schedule the next one."""

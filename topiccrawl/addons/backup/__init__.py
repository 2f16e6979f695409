"""Backup add-on: copies a data folder into one file, also while crawls run, and restores it."""

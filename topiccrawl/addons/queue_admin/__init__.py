"""Queue admin add-on: shows, edits, exports and imports the frontiers of crawls."""

"""Extraction of records from pages: template files, values, and their organisations [S1]."""

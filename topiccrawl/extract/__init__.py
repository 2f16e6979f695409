"""Article extraction: body, headline, date, bylines, lists of hub pages."""

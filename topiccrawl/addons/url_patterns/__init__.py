"""News filter: classifies URLs by patterns that are learnt from the pages of each site."""

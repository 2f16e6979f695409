"""Text processing: decoding, normalisation, tokens and document frequencies."""

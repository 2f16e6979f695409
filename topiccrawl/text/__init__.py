"""WORDS: decoding, normalisation, tokens and document frequencies, Chinese and English."""

"""Text processing: decoding, normalisation, tokens, document frequencies, terms in texts."""

from topiccrawl.text.decode import Decoded, decode
from topiccrawl.text.digest import digest_of
from topiccrawl.text.idf import Idf, corpus_idf
from topiccrawl.text.normal import fold, has_han, normalise, simplify
from topiccrawl.text.tokens import Tokenizer, shared_tokenizer, tokenizer

__all__ = [
    "Decoded",
    "Idf",
    "Tokenizer",
    "corpus_idf",
    "decode",
    "digest_of",
    "fold",
    "has_han",
    "normalise",
    "shared_tokenizer",
    "simplify",
    "tokenizer",
]

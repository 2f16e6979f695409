"""WHAT IS A VALUE? For each kind: what a text holds of it, in one spelling for equal values."""

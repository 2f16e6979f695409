"""Values of each kind in a text, in one spelling for equal values."""

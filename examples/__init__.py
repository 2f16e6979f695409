"""Examples of custom components; none needs a change of the package."""

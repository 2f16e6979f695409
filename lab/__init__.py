"""Test lab outside of the package: the demo web and its judges."""

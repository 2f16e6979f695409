"""Test lab outside of the package: the demo web, its judges, and checks of the repository."""

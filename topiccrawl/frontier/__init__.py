"""FRONTIER: the URL that is fetched next, and the state of every other one."""

"""Records of a page: template files, values, their places and their owners [S1]."""

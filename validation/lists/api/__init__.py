"""/v1/lists: the operations on lists."""

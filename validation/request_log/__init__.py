"""Write the request log, search it, and delete from it."""

"""Writes the request log, searches it, and deletes from it."""

"""Conventions of all views under /v1."""

"""Show staff the request log and usage."""

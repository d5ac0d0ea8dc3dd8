"""Shows staff the request log and usage."""

"""POST /v1/validate/batch: up to 100 addresses in one request."""

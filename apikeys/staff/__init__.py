"""Staff pages about keys and refusals."""

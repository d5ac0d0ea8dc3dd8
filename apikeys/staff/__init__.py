"""What staff see of keys and refusals."""

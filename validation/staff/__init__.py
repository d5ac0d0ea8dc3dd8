"""What staff see of requests and usage."""

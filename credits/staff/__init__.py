"""What staff see of credits and money, and what they do about it."""

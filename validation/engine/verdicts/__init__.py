"""Decide what the facts about an address mean: the verdict, its reasons and its score."""

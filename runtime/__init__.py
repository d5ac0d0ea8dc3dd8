"""Provide what any Django service needs, independent of the product."""

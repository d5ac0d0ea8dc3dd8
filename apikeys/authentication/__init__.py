"""Who calls, and whether their key may."""

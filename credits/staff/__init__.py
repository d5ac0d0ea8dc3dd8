"""Staff pages and actions for credits and money."""

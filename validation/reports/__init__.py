"""Sum up usage for pages, charts, and the API."""

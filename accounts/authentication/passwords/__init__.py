"""Hash passwords without slowing down the API, and refuse common ones."""

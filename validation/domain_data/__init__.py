"""Keep what the engine knows about domains current: packages' lists and staff's own."""

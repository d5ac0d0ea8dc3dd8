"""Orders from placing to paying, refunding, and renewing."""

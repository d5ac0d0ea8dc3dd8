"""Results: as JSON, as samples, and stored for a day, so that they can be requested again."""

"""Take files of addresses: limits, parsing, and finding duplicates."""

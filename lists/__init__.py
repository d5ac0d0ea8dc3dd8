"""Lists: files of addresses that are validated in the background."""

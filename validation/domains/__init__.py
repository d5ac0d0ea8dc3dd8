"""Lists of domains that an account always allows or denies."""

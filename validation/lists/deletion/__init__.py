"""Delete what is stored of lists: on request, when it expires, and to erase an address."""

"""Read the results of lists: pages, downloads, and a sample."""

"""Read uploaded files in a separate process, without Django: it starts fast and has no secrets."""

"""Draw invoices as PDF, without Django."""

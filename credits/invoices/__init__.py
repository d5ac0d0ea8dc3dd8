"""Draw invoices as PDF, in a process of its own that imports no Django."""

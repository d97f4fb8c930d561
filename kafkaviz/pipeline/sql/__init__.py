"""SQL over a catalog, in a process of its own."""

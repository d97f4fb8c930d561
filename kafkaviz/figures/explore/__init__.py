"""Questions about a catalog, and charts of their answers."""

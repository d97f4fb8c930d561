"""Pages of an index: which a search touches, and which are cold."""

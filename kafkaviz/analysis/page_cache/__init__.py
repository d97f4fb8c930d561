"""Which pages of an index a search touches, and which of them went cold."""

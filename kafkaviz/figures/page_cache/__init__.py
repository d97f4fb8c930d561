"""The pages of an index: which pages a search touches, and which are cold."""

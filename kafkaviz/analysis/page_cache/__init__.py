"""Which memory pages of an index searches touch, and which of them have left the page cache."""

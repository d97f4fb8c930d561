"""Which memory pages searches in an index touch, and which of these have left the page cache."""

"""Which memory pages searches in an index read, and which of these have left the page cache."""

"""The pages of an index that searches touch, and those that have left the page cache."""

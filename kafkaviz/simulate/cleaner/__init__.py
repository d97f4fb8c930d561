"""The log cleaner: which records it keeps, and the segments that it writes."""

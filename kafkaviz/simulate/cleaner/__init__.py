"""The log cleaner: the records that stay, and the segments that it writes."""

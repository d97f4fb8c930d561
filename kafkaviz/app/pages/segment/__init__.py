"""The Segment page: the files of a segment, and the transactions around it."""

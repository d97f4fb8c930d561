"""The checks, one file a family: each takes what was read of a segment or partition and gives findings."""

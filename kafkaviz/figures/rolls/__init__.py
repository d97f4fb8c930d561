"""Figures of segment rolls: the time line, the summary of a run, and a log that grows."""

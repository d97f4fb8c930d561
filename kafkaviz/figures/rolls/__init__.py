"""Figures of segment rolls: the time line, the summary of a simulation, and a log that grows."""

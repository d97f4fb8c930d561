"""Rolls: their time line, their summary, and a log that grows."""

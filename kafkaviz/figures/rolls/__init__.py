"""Rolls: their time line, their summary, a log that grows."""

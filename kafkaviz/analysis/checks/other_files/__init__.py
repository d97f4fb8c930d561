"""The checks of all that lies beside .log, .index and .timeindex.

A file of checks for each kind of file.
"""

"""The checks of all that lies beside .log, .index and .timeindex: a file of checks for each kind of
file.
"""

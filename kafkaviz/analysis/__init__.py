"""Analyses of logs: the cost of lookups, settings, faults, retention, compaction and more.

Files are read through kafkaviz.log, never with `open()`.
"""

"""Analyses of logs: the cost of lookups, settings, faults, retention, compaction and more.

Modules here read files through kafkaviz.log, never with `open()`.
"""

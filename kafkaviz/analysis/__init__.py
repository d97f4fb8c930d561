"""Analyses of logs: faults, settings, retention, compaction, the cost of lookups, and more.

Modules here read files through kafkaviz.log, never with `open()`.
"""

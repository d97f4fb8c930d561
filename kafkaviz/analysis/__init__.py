"""The cost of lookups in a log, its settings, and its faults.

Files are read through kafkaviz.log, never with `open()`.
"""

"""The cost of lookups in a log, its settings, and its faults.

The code here works on values and opens no files by itself.
"""

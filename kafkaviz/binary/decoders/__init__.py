"""Compiled decompressors, one file per codec; runs.py calls them for many batches at once."""

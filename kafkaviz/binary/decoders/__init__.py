"""Compiled decompressors, one file a codec; runs.py calls them for many batches at once."""

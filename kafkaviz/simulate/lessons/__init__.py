"""Logs for lessons: small ones that grow step by step, and indexes of any size for searches."""

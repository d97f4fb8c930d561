"""Logs from beginning to end: a run that writes one, one appended once more, the files around it,
the folder they end in.
"""

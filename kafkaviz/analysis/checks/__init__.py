"""The checks, a module a family.

Log (with log_gaps, between segments), offset_index, time_index, other_files, state, time, settings.

The others serve these: log_scan is the pass over a .log, transactions and summary what it keeps,
plan what a check goes by, facts what of it is known around a segment, and segment calls all checks
of one.
"""

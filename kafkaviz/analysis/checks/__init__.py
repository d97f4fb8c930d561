"""The checks, one module per family of findings.

The families are log (with log_gaps, between segments), offset_index, time_index, other_files,
log_directories, state, tiered_storage, time and settings.

The other modules serve these. log_scan is the pass over a .log, transactions and summary hold what
it keeps, plan has the decisions before a check, facts has what the checks need to know about the
surroundings of a segment, and segment runs all checks of one segment.
"""

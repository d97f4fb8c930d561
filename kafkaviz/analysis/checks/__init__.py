"""The checks, one module per family of findings.

The families are `log` (with `log_gaps` for gaps between segments), `offset_index`, `time_index`,
`other_files`, `log_directories`, `state`, `tiered_storage`, `time` and `settings`.

The other modules serve these. `plan` has the decisions before any segment is read. `segment` runs
all checks of one segment, and `facts` has the facts about the partition that these checks need.
`log_scan` reads a .log, and `transactions` and `summary` collect from it.
"""

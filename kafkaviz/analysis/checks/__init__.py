"""The checks of a directory, one module per kind of file or question.

`segment` runs all checks of one segment. `plan` holds the decisions before a segment is read.
`facts` holds the facts about the topic-partition that these checks need.

A family of findings has the name of a module. `log_gaps` belongs to the family of `log`. To
`other_files` belong `aborted_transactions`, `broker_files`, `kraft_files` and `unreadable_files`.
"""

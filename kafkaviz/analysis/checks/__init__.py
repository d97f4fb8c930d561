"""The checks of a directory, one module per kind of file or question.

`segment` runs all checks of one segment. `plan` chooses the release and the settings.
`facts` holds the properties of the topic-partition on which these checks depend.

A family of findings usually has the name of its module. The findings of `log_gaps` are in the
family `log`. The findings of `aborted_transactions`, `broker_files`, `kraft_files` and
`unreadable_files` are in the family `other-files`.
"""

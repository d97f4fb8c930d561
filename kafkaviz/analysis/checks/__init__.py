"""The checks of a directory, one module per kind of file or question.

`segment` runs all checks of one segment. `plan` holds the decisions before a segment is read.
`facts` holds the facts about the topic-partition that these checks need.
"""

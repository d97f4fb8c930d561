"""A file of a segment that is known to exist.

Segment.log and its indexes are None where there is no file. What follows a check, or a CheckSummary
that only a .log gives, need not ask again: this says so to a type checker.
"""

from typing import cast

from kafkaviz.log.file import FileInfo


def existing_file(info: FileInfo | None) -> FileInfo:
    """The same file; whoever calls has made sure that there is one."""
    return cast(FileInfo, info)

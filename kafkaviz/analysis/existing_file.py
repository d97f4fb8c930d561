"""An index file of a segment that is known to exist.

The indexes of a segment are None where there is no file. What follows a check of that need not ask
again: this says so to a type checker. That there is a .log is said by log.segment.LogSegment.
"""

from typing import cast

from kafkaviz.log.file import FileInfo


def existing_file(info: FileInfo | None) -> FileInfo:
    """The same file; whoever calls has made sure that there is one."""
    return cast(FileInfo, info)

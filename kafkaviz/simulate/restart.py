"""What the next start of a broker does to its directory, told before it happens.

As LogManager and LogLoader of Kafka 4.3.1. Of a directory that was not stopped cleanly, partition orders-0 with recovery point
200 and segments 0, 150 and 300 of which 150 ends in half a batch:

    truncate orders-0 150 .log        half a batch is cut off
    rebuild  orders-0 150 .index      from the batches that are left
    delete   orders-0 300 .log        what follows a cut is not trusted
"""

from dataclasses import dataclass

ACTIONS = ("truncate", "rebuild", "delete", "keep", "fail")


@dataclass(frozen=True)
class Step:
    """One thing that a start does, in the order of its doing within a partition.

    partition: the directory's name; None where the step concerns the broker directory itself.
    segment: a base offset; None where the step concerns no one segment.
    action: "truncate" cuts a .log; "rebuild" writes a file anew, or trims it; "delete" removes a file or, with neither segment
    nor file, a directory; "keep" finds what it would have written, or leaves what one might take for damage; "fail" ends the start.
    file: relative to the broker directory; None for a step that concerns no one file.
    from_position: the byte from which a truncated .log is gone, else None.
    size_bytes: how many bytes truncate cuts and delete removes, how large the file is after rebuild; None where nothing is known.
    cause: why, as a word for programs, one of CAUSES; why: the same as a sentence for people.
    error: what Kafka throws, "class: message"; way_out: what a person can do. Both for "fail" alone.
    """

    partition: str | None
    segment: int | None
    action: str
    cause: str
    why: str
    file: str | None = None
    from_position: int | None = None
    size_bytes: int | None = None
    error: str | None = None
    way_out: str | None = None


CAUSES = {
    "unflushed": "the segment reaches above the recovery point of an unclean directory",
    "metadata-log": "the metadata log is recovered at every start",
    "index-missing": "there is no .index",
    "timeindex-missing": "there is no .timeindex",
    "index-corrupt": "an index fails its check",
    "tail": "bytes behind the last valid batch",
    "invalid-offset": "offsets run backwards",
    "after-truncation": "a segment before it lost bytes",
    "leftover-deleted": "a file that was to be deleted",
    "leftover-cleaned": "an unfinished compaction or split",
    "leftover-swap": "a finished compaction or split that was not put in place",
    "orphan-index": "an index without its .log",
    "log-start-beyond-end": "the log start offset lies above all records",
    "offset-overflow": "offsets that are too far from the base offset",
    "producer-state": "a producer snapshot",
    "no-segment": "a partition without a segment gets an empty one",
    "directory-deleted": "a directory that was to be deleted",
    "directory-stray": "a directory of a replica that should not be here",
    "directory-name": "a directory whose name is no topic-partition",
    "directory-twice": "two directories of one partition",
    "index-full": "a segment needs more entries than its indexes may hold",
    "index-too-large": "an index is larger than segment.index.bytes now allows",
    "log-corrupt": "a .log whose end cannot be read",
    "exception": "any other exception",
}


@dataclass(frozen=True)
class Restart:
    """What the next start does to a broker directory, or to one partition.

    clean: the marker of a clean stop is there. starts: the broker comes up; of one partition, whether this one stops it.
    """

    clean: bool
    starts: bool
    steps: tuple[Step, ...]

    @property
    def failures(self) -> tuple[Step, ...]:
        """The steps at which a start ends; which comes first depends on the threads that load the logs."""
        return tuple(step for step in self.steps if step.action == "fail")

    def of(self, partition: str) -> tuple[Step, ...]:
        """The steps of one partition directory."""
        return tuple(step for step in self.steps if step.partition == partition)

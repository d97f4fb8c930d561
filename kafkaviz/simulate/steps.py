"""One thing that a start does to a broker directory, and the words for why."""

from dataclasses import dataclass

ACTIONS = ("truncate", "rebuild", "delete", "keep", "fail")


@dataclass(frozen=True)
class StartupStep:
    """One thing that a start does, in the order of its doing within a partition.

    partition: the directory's name; None where the step concerns the broker directory itself.
    segment: a base offset; None where the step concerns no one segment. action: "truncate" cuts a
    .log; "rebuild" writes a file anew, or trims it; "delete" removes a file or, with neither
    segment nor file, a directory; "keep" finds what it would have written, or leaves what one might
    take for damage; "fail" ends the start. file: relative to the broker directory; None for a step
    that concerns no one file. from_position: the byte from which a truncated .log is gone; of a
    full index that of the entry it has no room for; else None. size_bytes: how many bytes truncate
    cuts and delete removes, how large the file is after rebuild, of a full index an entry; None
    where nothing is known. cause: why, as a word for programs, one of CAUSES; why: the same as a
    sentence for people. error: what Kafka throws, "class: message"; way_out: what a person can do.
    Both for "fail" alone.
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

    @property
    def is_expected(self) -> bool:
        """Whether every start may do it, of a healthy directory too."""
        return self.cause in EXPECTED_CAUSES


EXPECTED_CAUSES = (
    "metadata-log",
    "leftover-deleted",
    "directory-deleted",
    "producer-state",
    "leader-epochs",
)
# the .log is read for it
RECOVERY_CAUSES = (
    "unflushed",
    "index-missing",
    "index-corrupt",
    "tail",
    "invalid-offset",
    "index-full",
)
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
    "leader-epochs": "the leader epochs of what is left",
    "no-segment": "a partition without a segment gets an empty one",
    "directory-deleted": "a directory that was to be deleted",
    "directory-stray": "a directory of a replica that should not be here",
    "becomes-stray": "a directory that the start takes for stray",
    "directory-name": "a directory whose name is no topic-partition",
    "directory-twice": "two directories of one partition",
    "index-full": "a segment needs more entries than its indexes may hold",
    "index-too-large": "an index is larger than segment.index.bytes now allows",
    "log-too-large": "a .log is larger than Kafka opens",
    "leader-epochs-bad": "leader-epoch-checkpoint cannot be read",
    "partition-metadata-bad": "partition.metadata cannot be read",
    "meta-properties": "meta.properties is missing, or says nothing that Kafka takes",
    "bootstrap": "bootstrap.checkpoint cannot be read",
    "quorum-state-bad": "the state of the metadata quorum cannot be read",
    "snapshot-corrupt": "the newest snapshot of the cluster's metadata cannot be read",
    "log-corrupt": "a .log whose end cannot be read",
    "exception": "any other exception",
}

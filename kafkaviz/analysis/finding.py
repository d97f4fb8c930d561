"""A finding: something true of a directory that a person may want to know, with its evidence; and
the list of all codes.

    index-offset-mismatch   error   bookings-0/00000000000000000858.index, bytes 24 to 31
    found     offset 963, position 20672          expected  offset 963, position 13780
    Kafka     searches believe the entry ...      next      move the file away with the broker
    stopped ...
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafkaviz import versions
from kafkaviz.format.names import natural_sort_key
from kafkaviz.versions import Behaviour

ERROR, WARNING, INFO = SEVERITIES = ("error", "warning", "info")  # the worst first
# the rooms of checks/
FAMILIES = ("log", "offset-index", "time-index", "other-files", "state", "time", "settings")
Version = tuple[int, ...]  # a release: (4, 3, 1), or (4, 3) for the first of them


@dataclass(frozen=True)
class Evidence:
    """What lies there and what should; in words, and where a file says it in so many bytes, those
    too (in hexadecimal).
    """

    found: str
    expected: str = ""
    found_hex: str = ""
    expected_hex: str = ""

    @property
    def text(self) -> str:
        """Both in one line."""
        parts = (
            self._format_part("found", self.found, self.found_hex),
            self._format_part("expected", self.expected, self.expected_hex),
        )
        return " ".join(filter(None, parts))

    @staticmethod
    def _format_part(label: str, text: str, digits: str) -> str:
        return f"{label} {text}{f' ({digits})' if digits else ''}." if text else ""


@dataclass(frozen=True)
class Finding:
    """One thing that is so; position and length are None where it is about a whole file, directory
    or setting.
    """

    code: str
    severity: str
    partition: str | None  # the directory's name; None for the broker directory itself
    file: str | None  # relative to the broker directory
    position: int | None
    length: int | None
    message: str
    evidence: Evidence
    consequence: str  # what Kafka does with it, in the version that was assumed
    next_step: str
    reference: str | None = None  # a JIRA or a KIP

    @property
    def family(self) -> str:
        """The place of its code in FAMILIES."""
        return CODES[self.code].family


@dataclass(frozen=True)
class Code:
    """What all findings of one code have in common."""

    name: str
    family: str
    severity: str
    title: str
    consequence: str
    next_step: str
    reference: str | None = None
    # releases that do not go that way yet do something else: this
    earlier_behaviour: tuple[Behaviour, str] | None = None


_RESTORE = (
    "Take the partition from another replica, or from a backup; without one, let recovery cut the "
    "log and count what is lost"
)
_REINDEX = (
    "With the broker stopped, move the .index away (keep it): the next start recovers the segment "
    "and writes both indexes anew; `kafkaviz rebuild` shows the result first"
)
_NO_ACTION = "Nothing needs to be done"
_TIME_REINDEX = (
    "With the broker stopped, move the .index of this segment away too (keep both): only a missing "
    ".index makes a start rebuild the indexes, the .timeindex with it"
)
_INDEX_UNCHECKED = (
    "Nothing checks the entries at a start (since 2.3); a search believes what it reads there"
)
_SANITY = (
    versions.INDEXES_TRUSTED,
    (
        "A start checks only the last entry and the length; a failed check makes it rebuild the "
        "segment's indexes"
    ),
)
_RECOVERY_CUTS = (
    "Readers stop with a CorruptRecordException here; a recovery after an unclean stop cuts the "
    ".log at this byte and deletes all later segments. A clean start does not notice"
)

_TABLE = (
    # ---- the .log
    Code(
        "batch-crc-mismatch",
        "log",
        ERROR,
        "A batch does not match its checksum",
        "Consumers and followers that check it fail on this batch; a recovery after an unclean "
        "stop cuts the .log here and deletes all later segments. The broker itself serves it "
        "without looking",
        _RESTORE,
    ),
    Code(
        "batch-bad-length", "log", ERROR, "The length of a batch is wrong", _RECOVERY_CUTS, _RESTORE
    ),
    Code(
        "batch-bad-magic",
        "log",
        ERROR,
        "A batch has a magic that does not exist",
        "The magic is outside the checksum: a broker reads 3 to 127 as a batch of magic 2 and "
        "fails on a negative one; consumers refuse it",
        _RESTORE,
    ),
    Code(
        "batch-record-count",
        "log",
        ERROR,
        "A batch does not hold as many records as it says",
        (
            "Whoever reads its records fails with an InvalidRecordException; fetches hand it on "
            "unread"
        ),
        _RESTORE,
    ),
    Code(
        "record-malformed",
        "log",
        ERROR,
        "A record inside a batch cannot be read",
        "Consumers stop at this batch; compaction and time lookups that read its records fail",
        _RESTORE,
    ),
    Code(
        "decompress-failed",
        "log",
        ERROR,
        "The records of a batch cannot be decompressed",
        "Consumers stop at this batch; compaction and time lookups that read its records fail",
        _RESTORE,
    ),
    Code(
        "offsets-not-increasing",
        "log",
        ERROR,
        "Offsets do not grow from batch to batch",
        "Base offsets are outside the checksum: fetches land on the wrong batch; a recovery "
        "raises InvalidOffsetException once such a batch gets an index entry, and empties the "
        "segment",
        _RESTORE,
    ),
    Code(
        "offset-below-base",
        "log",
        ERROR,
        "A batch has an offset below its segment's base offset",
        "Its relative offset is negative, which no index can hold; no fetch finds it",
        _RESTORE,
    ),
    Code(
        "offset-overflow",
        "log",
        ERROR,
        "An offset is too far from its segment's base offset",
        "A start finds that 31 bits do not hold the relative offset and splits the segment",
        "Let the next start split it",
        "KAFKA-6264",
    ),
    Code(
        "log-torn-tail",
        "log",
        ERROR,
        "The last batch is cut short",
        (
            "Readers stop before it; a recovery after an unclean stop cuts it off. A clean start "
            "does not notice, and appends behind it"
        ),
        (
            "Copy the .log, then start the broker without .kafka_cleanshutdown, as after a kill: "
            "recovery cuts the tail"
        ),
    ),
    Code(
        "log-zero-tail",
        "log",
        ERROR,
        "Zero bytes follow the last batch",
        "Readers fail on the zeros; a recovery after an unclean stop cuts them off. A clean start "
        "does not notice, and appends behind them",
        (
            "Copy the .log, then start the broker without .kafka_cleanshutdown, as after a kill: "
            "recovery cuts the tail"
        ),
    ),
    Code(
        "log-garbage-tail",
        "log",
        ERROR,
        "Bytes that do not belong follow the last batch",
        "Readers stop or fail there; a recovery after an unclean stop cuts them off. A clean "
        "start does not notice, and appends behind them",
        (
            "Copy the .log, then start the broker without .kafka_cleanshutdown, as after a kill: "
            "recovery cuts the tail"
        ),
    ),
    Code(
        "segment-overlap",
        "log",
        ERROR,
        "Two segments hold the same offsets",
        (
            "The segment with the greater base offset answers for the offsets of both; the "
            "other's copies are never read"
        ),
        _RESTORE,
    ),
    Code(
        "segment-gap",
        "log",
        WARNING,
        "Offsets are missing, and nothing explains why",
        "A fetch inside the gap gets the next offset that is there, without an error",
        "Look for a segment that was moved away; compare with another replica",
    ),
    Code(
        "offset-gap-explained",
        "log",
        INFO,
        "Offsets are missing, as they should be",
        "Consumers go on behind the gap",
        _NO_ACTION,
    ),
    # ---- the .index
    Code(
        "index-missing",
        "offset-index",
        WARNING,
        "The .index is missing",
        "The next start recovers the whole segment and writes .index and .timeindex anew",
        "Let the next start rebuild it",
        None,
    ),
    Code(
        "index-size-not-multiple",
        "offset-index",
        WARNING,
        "The .index ends inside an entry",
        "The last entry is lost, and nothing else; searches scan a little more",
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-zero-tail",
        "offset-index",
        WARNING,
        "The .index ends in slots that were never written",
        "Searches read the zeros as entries of position 0 and scan from the segment's start: "
        "slow, not wrong. As an active segment it counts as full, and its roll may fail with a "
        "buffer overflow",
        _REINDEX,
        "KAFKA-19200",
        _SANITY,
    ),
    Code(
        "index-not-monotonic",
        "offset-index",
        ERROR,
        "Keys of the .index do not grow",
        f"{_INDEX_UNCHECKED}: a binary search may go astray and skip records",
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-position-beyond-log",
        "offset-index",
        ERROR,
        "An entry of the .index points past the last batch",
        (
            f"{_INDEX_UNCHECKED}: fetches of the offsets it answers for find nothing in this "
            "segment and go on to the next"
        ),
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-position-not-batch-start",
        "offset-index",
        ERROR,
        "An entry of the .index points into the middle of a batch",
        (
            f"{_INDEX_UNCHECKED}: what stands there is read as a batch header, so fetches fail "
            "or miss records"
        ),
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-offset-mismatch",
        "offset-index",
        ERROR,
        "An entry of the .index names another offset than the batch it points to",
        (
            f"{_INDEX_UNCHECKED}: where the position lies too far on, fetches and time lookups "
            "skip the records before it without an error"
        ),
        _REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "index-coarse",
        "offset-index",
        INFO,
        "Entries of the .index stand for appends of several batches",
        "Searches step over some more headers; no record is missed",
        _NO_ACTION,
        "KAFKA-806",
    ),
    Code(
        "index-first-offset-keys",
        "offset-index",
        INFO,
        "Keys of the .index are first offsets, as up to 1.1",
        "Searches work as with last offsets",
        _NO_ACTION,
        "KAFKA-6530",
    ),
    Code(
        "index-differs-from-rebuild",
        "offset-index",
        WARNING,
        "Recovery would write another .index",
        (
            "Searches work, with more or fewer headers to step over; a recovery would replace the "
            "file"
        ),
        "Compare with `kafkaviz rebuild`",
    ),
    Code(
        "index-unwritten-slots",
        "offset-index",
        INFO,
        "The active .index still has the length that was set ahead",
        "The next start recovers the segment and goes on writing behind its entries",
        _NO_ACTION,
    ),
    # ---- the .timeindex
    Code(
        "timeindex-missing",
        "time-index",
        ERROR,
        "The .timeindex is missing",
        "The next start creates an empty one and rebuilds nothing: the .log's modification time "
        "then counts as the segment's newest record, so every time lookup up to that time ends "
        "here, and those for records of later segments get no answer",
        _TIME_REINDEX,
    ),
    Code(
        "timeindex-size-not-multiple",
        "time-index",
        WARNING,
        "The .timeindex ends inside an entry",
        "The last entry is lost: the segment's newest records may not be found by time",
        _TIME_REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "timeindex-zero-tail",
        "time-index",
        ERROR,
        "The .timeindex ends in slots that were never written",
        "The last entry reads as timestamp 0: every time lookup skips the segment and answers "
        "with the next one, and retention.ms takes it for one of 1970, which may be deleted",
        _TIME_REINDEX,
        "KAFKA-19200",
        _SANITY,
    ),
    Code(
        "timeindex-not-monotonic",
        "time-index",
        ERROR,
        "Entries of the .timeindex do not grow",
        f"{_INDEX_UNCHECKED}: time lookups may start past the record they should find",
        _TIME_REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "timeindex-offset-mismatch",
        "time-index",
        ERROR,
        "An entry of the .timeindex names an offset that does not hold its timestamp",
        f"{_INDEX_UNCHECKED}: time lookups may start past the record they should find",
        _TIME_REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "timeindex-timestamp-mismatch",
        "time-index",
        ERROR,
        "An entry of the .timeindex names a timestamp that its records do not have",
        f"{_INDEX_UNCHECKED}: time lookups may start past the record they should find; as the last "
        "entry it is the segment's newest time, for lookups and for retention.ms",
        _TIME_REINDEX,
        "KAFKA-7283",
        _SANITY,
    ),
    Code(
        "timeindex-deep-offset",
        "time-index",
        INFO,
        "Entries of the .timeindex name single records, as leaders did up to 3.6",
        "Time lookups work as with the last offset of the batch",
        _NO_ACTION,
        "KAFKA-16341",
    ),
    Code(
        "timeindex-max-missed",
        "time-index",
        WARNING,
        "The .timeindex does not reach the segment's newest record",
        (
            "Time lookups above the last entry skip the segment, and retention.ms may delete it "
            "too soon"
        ),
        _TIME_REINDEX,
    ),
    Code(
        "timeindex-empty",
        "time-index",
        INFO,
        "The .timeindex has no entry",
        "Time lookups inside the segment scan from its start; of a closed segment the .log's "
        "modification time counts as its newest record",
        _NO_ACTION,
    ),
    # ---- other files
    Code(
        "txnindex-mismatch",
        "other-files",
        ERROR,
        "The .txnindex does not tell the aborted transactions of its .log",
        (
            "Consumers that read committed records alone get records of aborted transactions, or "
            "miss committed ones"
        ),
        (
            "With the broker stopped, move .index and .txnindex of this segment away (keep both): "
            "the next start rebuilds them"
        ),
    ),
    Code(
        "txnindex-torn",
        "other-files",
        ERROR,
        "The .txnindex ends inside an entry",
        (
            "The last entry is not read: consumers that read committed records alone may get "
            "records of an aborted transaction"
        ),
        (
            "With the broker stopped, move .index and .txnindex of this segment away (keep both): "
            "the next start rebuilds them"
        ),
    ),
    Code(
        "snapshot-bad-crc",
        "other-files",
        WARNING,
        "A producer snapshot cannot be read",
        (
            "A start that needs it ignores it, deletes it, and reads the log from an older "
            "snapshot on"
        ),
        "Nothing, or move the file away",
    ),
    Code(
        "snapshot-stray",
        "other-files",
        WARNING,
        "A producer snapshot belongs to no segment",
        "The next start deletes it",
        "Nothing, or move the file away",
    ),
    Code(
        "snapshot-missing",
        "other-files",
        WARNING,
        "There is no producer snapshot, though producers wrote with ids",
        "A clean start writes empty snapshots and does not read the log: the broker forgets its "
        "producers, and duplicates of their last batches are not noticed",
        (
            "Start the broker as after a kill (without .kafka_cleanshutdown), so that it reads "
            "the log"
        ),
    ),
    Code(
        "leader-epoch-bad",
        "other-files",
        WARNING,
        "leader-epoch-checkpoint is damaged, or does not agree with the log",
        "The partition cannot be loaded: its log directory goes offline",
        "Take the file from another replica, or remove it with the broker stopped",
    ),
    Code(
        "partition-metadata-bad",
        "other-files",
        WARNING,
        "partition.metadata cannot be read",
        "The partition cannot be loaded: its log directory goes offline",
        "Write it anew: two lines, version: 0 and topic_id: the topic's id",
    ),
    Code(
        "checkpoint-unreadable",
        "other-files",
        WARNING,
        "A checkpoint of the broker cannot be read",
        ("It counts as empty: recovery points become 0, log start offsets the first base offsets"),
        "Remove it; the broker writes it anew",
    ),
    Code(
        "meta-properties-bad",
        "other-files",
        WARNING,
        "meta.properties cannot be read, or is missing",
        "The broker does not start on this directory",
        "Write it anew with the cluster's id and the node's",
    ),
    Code(
        "orphan-index",
        "other-files",
        WARNING,
        "An index lies there without its .log",
        "The next start deletes it",
        "Look for the .log that was moved away; otherwise nothing",
    ),
    Code(
        "leftover-deleted",
        "other-files",
        INFO,
        "Files wait to be unlinked",
        "The broker unlinks them after file.delete.delay.ms, or at the next start",
        _NO_ACTION,
    ),
    Code(
        "leftover-cleaned",
        "other-files",
        WARNING,
        "A compaction or split did not finish",
        "The next start deletes the file",
        "Nothing; the segments it was made from are still there",
    ),
    Code(
        "leftover-swap",
        "other-files",
        WARNING,
        "A compaction or split was interrupted while it replaced segments",
        (
            "The next start completes the swap: it deletes the segments that the file replaces "
            "and takes away its suffix"
        ),
        "Let the next start complete it",
        None,
        (
            versions.SWAPPED_INDEXES,
            "The next start completes the swap: it deletes the segments that the file replaces, "
            "takes away its suffix, and builds its indexes anew",
        ),
    ),
    Code(
        "directory-name-bad",
        "other-files",
        WARNING,
        "A directory has no topic-partition's name",
        "The broker refuses to start: every directory in log.dirs must be named TOPIC-NUMBER",
        "Move it out of the log directory",
    ),
    Code(
        "unknown-file",
        "other-files",
        WARNING,
        "A file is none of Kafka's",
        "The broker ignores it",
        "Move it out of the log directory",
    ),
    Code(
        "unreadable-file",
        "other-files",
        WARNING,
        "A file could not be read",
        (
            "What is in it is not known here. A broker that cannot read it either takes the whole "
            "log directory offline"
        ),
        "Read it as a user who may, such as the one that the broker runs as",
    ),
    # ---- state
    Code(
        "unclean-shutdown",
        "state",
        WARNING,
        "The broker was not stopped cleanly, or is running",
        "The next start recovers each partition from its recovery point on",
        "Let the next start recover; do not add .kafka_cleanshutdown by hand",
        "KAFKA-10471",
    ),
    Code(
        "recovery-will-truncate",
        "state",
        WARNING,
        "The next start will cut bytes off a .log",
        (
            "What is cut off is lost here; a follower fetches it again from the leader, a "
            "leader's followers cut it off too"
        ),
        "Copy the .log first",
    ),
    Code(
        "recovery-will-rebuild",
        "state",
        WARNING,
        "The next start will rebuild indexes",
        "It takes the time of reading the segments",
        _NO_ACTION,
    ),
    Code(
        "recovery-will-delete",
        "state",
        WARNING,
        "The next start will delete files",
        "They are gone after it",
        "Copy them first",
    ),
    Code(
        "recovery-will-fail",
        "state",
        ERROR,
        "The next start will fail",
        "The broker stops before all its logs are loaded",
        "Mend the cause before the start",
    ),
    Code(
        "becomes-stray",
        "state",
        ERROR,
        "The next start will not serve a topic-partition",
        "Kafka takes the directory for stray: it renames it to end in -stray, and serves nothing "
        "of it. If the broker should have the replica, it fetches all of it again from the leader",
        "Before the start see which topic the directory is of (its partition.metadata) and which "
        "brokers hold it (kafka-topics.sh --describe); a directory that came from another "
        "cluster, broker or topic must not be copied in",
        "KAFKA-14616",
    ),
    Code(
        "log-start-beyond-end",
        "state",
        ERROR,
        "The log start offset lies past the log's end",
        "The next start deletes all segments and begins an empty log at the log start offset",
        (
            "Copy the partition first; if the checkpoint is wrong, correct its line with the "
            "broker stopped"
        ),
    ),
    Code(
        "recovery-point-beyond-end",
        "state",
        WARNING,
        "The recovery point lies past the log's end",
        (
            "Records that had been flushed are missing; a start takes the log's end as recovery "
            "point"
        ),
        "Compare with another replica",
    ),
    Code(
        "hanging-transaction",
        "state",
        WARNING,
        "A transaction was never ended",
        "Consumers that read committed records alone stop before it, and compaction does too",
        "kafka-transactions.sh find-hanging, then abort",
        "KIP-664",
    ),
    # ---- time and retention
    Code(
        "timestamp-in-future",
        "time",
        WARNING,
        "Records are from the future",
        "Their segment is kept until they are older than retention.ms, and all later segments "
        "with it; such a batch may roll a segment early. From 4.0 on a broker refuses records "
        "more than an hour ahead",
        "Find the producer with the wrong clock",
        "KIP-937",
        (
            versions.FUTURE_REFUSED,
            "Their segment is kept until they are older than retention.ms, and all later segments "
            "with it; such a batch may roll a segment early",
        ),
    ),
    Code(
        "timestamp-unit-suspect",
        "time",
        WARNING,
        "Timestamps seem not to be milliseconds",
        "Kafka takes them for milliseconds: retention.ms and time lookups count from a wrong year",
        "Find the producer that sends another unit",
    ),
    Code(
        "timestamps-out-of-order",
        "time",
        WARNING,
        "Records are much older than records before them",
        (
            "A time lookup answers with the earliest offset whose record is new enough; older "
            "records behind it are not looked at"
        ),
        _NO_ACTION,
    ),
    Code(
        "timestamps-missing",
        "time",
        WARNING,
        "Records have no timestamp",
        (
            "No time lookup finds them; the .log's modification time counts for retention.ms, and "
            "segments roll by the clock"
        ),
        _NO_ACTION,
    ),
    Code(
        "retention-blocked",
        "time",
        WARNING,
        "A segment that expires late holds back those behind it",
        (
            "Retention by time goes from the oldest segment on and stops at the first that is not "
            "old enough"
        ),
        (
            "Once sure that nobody needs them, delete the records up to the late one with "
            "kafka-delete-records.sh"
        ),
    ),
    Code(
        "retention-by-mtime",
        "time",
        INFO,
        "The .log's modification time decides when a segment expires",
        (
            "Without an entry in its time index the segment is as old as its file; copying the "
            "file makes it young again"
        ),
        _NO_ACTION,
    ),
    # ---- settings and cost
    Code(
        "interval-without-effect",
        "settings",
        INFO,
        "Every batch is indexed: a smaller interval would change nothing",
        "An entry is written at most once a batch",
        _NO_ACTION,
    ),
    Code(
        "index-limit-rolls",
        "settings",
        WARNING,
        "Segments were rolled because the .index was full",
        "More and smaller segments than segment.bytes and segment.ms ask for",
        "Raise segment.index.bytes or index.interval.bytes",
    ),
    Code(
        "time-index-limit-binds",
        "settings",
        WARNING,
        "Segments were rolled because the .timeindex was full",
        (
            "More and smaller segments than segment.bytes and segment.ms ask for; the .timeindex "
            "fills before the .index does"
        ),
        "Raise segment.index.bytes or index.interval.bytes",
    ),
    Code(
        "preallocation-waste",
        "settings",
        WARNING,
        "Index files take room on disk that they do not use",
        "The space is taken until the segment rolls or the broker stops cleanly",
        "Copy with holes (cp --sparse=always, rsync -S, tar -S)",
    ),
    Code(
        "maps-near-limit",
        "settings",
        WARNING,
        "The indexes may need more memory maps than the system allows",
        (
            "Each loaded segment takes two maps; at vm.max_map_count the broker fails with an "
            "OutOfMemoryError (Map failed)"
        ),
        "Raise vm.max_map_count, or have fewer and larger segments",
        "KAFKA-19390",
    ),
    Code(
        "segments-tiny",
        "settings",
        WARNING,
        "Segments are much smaller than they need be",
        (
            "Each costs two or three open files, two memory maps once loaded, and a step in every "
            "time lookup"
        ),
        "Raise segment.bytes or segment.ms",
        "KIP-1030",
    ),
)
CODES: dict[str, Code] = {code.name: code for code in _TABLE}


def finding(
    code: str,
    message: str,
    evidence: Evidence,
    *,
    partition: str | None = None,
    file: str | None = None,
    position: int | None = None,
    length: int | None = None,
    version: Version = (),
    consequence: str = "",
    next_step: str = "",
) -> Finding:
    """A finding of this code, with the words of the table where none are given; without a version
    those of the newest release.
    """
    row = CODES[code]
    return Finding(
        code,
        row.severity,
        partition,
        file,
        position,
        length,
        message,
        evidence,
        consequence or _consequence(row, version),
        next_step or row.next_step,
        row.reference,
    )


def _consequence(row: Code, version: Version) -> str:
    return (
        row.earlier_behaviour[1]
        if row.earlier_behaviour and version and not row.earlier_behaviour[0].applies_to(version)
        else row.consequence
    )


def as_info(findings: Iterable[Finding]) -> list[Finding]:
    """The same as mere information: of a directory that waits for deletion nothing matters any
    more.
    """
    return [replace(finding, severity=INFO) for finding in findings]


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first; then by place."""

    def sort_key(finding: Finding) -> tuple:
        position = -1 if finding.position is None else finding.position
        return (
            SEVERITIES.index(finding.severity),
            natural_sort_key(finding.partition or ""),
            finding.file or "",
            position,
            finding.code,
        )

    return tuple(sorted(findings, key=sort_key))


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings of each severity."""
    severities = [finding.severity for finding in findings]
    return {severity: severities.count(severity) for severity in SEVERITIES}

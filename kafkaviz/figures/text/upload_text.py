"""Uploads to remote storage in words: what prevents them, and which bytes stay because of that.

The pages and the command share these texts.
"""

from collections.abc import Iterator

from kafkaviz.analysis.tiering.upload import PartitionUpload, SegmentUpload, UploadState
from kafkaviz.messages import message, say, say_count
from kafkaviz.units import file_stem, format_bytes, format_count, moment


def reason_text(partition: PartitionUpload, segment: SegmentUpload) -> str:
    """Says whether a segment can be uploaded, or what prevents it."""
    key = f"upload.{segment.state}"
    match segment.state:
        case UploadState.ABOVE_STABLE | UploadState.EPOCHS_LATE:
            return say(key, offset=format_count(segment.offset))
        case UploadState.COPY_LAG if segment.until_ms is not None:
            return say("upload.copy-lag_until", when=moment(segment.until_ms))
        case UploadState.SNAPSHOT_MISSING:
            return say(key, file=f"{file_stem(segment.offset or 0)}.snapshot")
        case UploadState.WAITING:
            is_failing = partition.failing is not None
            return say(
                key if is_failing else "upload.waiting_lag",
                segment=format_count(segment.blocked_by),
            )
        case UploadState.INDEX_DAMAGED:
            return say(key, why=segment.why)
        case _:
            return say(key)


def summary_lines(partition: PartitionUpload) -> Iterator[str]:
    """Says how many segments are in each state, who uploads, and what stays because of it."""
    counts = tuple(
        message(f"upload.n_{state}", n=count) for state, count in partition.counts.items()
    )
    yield say("upload.summary", counts=counts)
    if partition.is_leader is None:
        yield say("upload.leader_unknown")
    elif not partition.is_leader:
        yield say("upload.leader_no")
    if partition.kept_segments:
        yield say_count(
            "upload.kept", len(partition.kept_segments), size=format_bytes(partition.kept_bytes)
        )

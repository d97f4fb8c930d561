"""Tasks of an ingest for the segments of a broker directory, or for segments without files."""

from pathlib import Path

from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.read.tasks import SegmentTask


def segment_tasks_of(directory: Path) -> list[SegmentTask]:
    segments = [
        (partition, segment)
        for partition in open_broker(directory).partitions
        for segment in partition.segments
    ]
    return [
        SegmentTask(
            number=number,
            broker=directory.name,
            topic=partition.topic,
            partition=partition.partition,
            segment=segment,
        )
        for number, (partition, segment) in enumerate(segments)
    ]


def empty_task(number: int) -> SegmentTask:
    """Returns a task for a segment without files, whose base offset and partition are its number."""
    segment = Segment(base_offset=number, state="active")
    return SegmentTask(
        number=number, broker="b", topic=f"t{number}", partition=number, segment=segment
    )

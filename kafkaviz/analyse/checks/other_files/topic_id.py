"""The check of partition.metadata, which tells the topic's id."""

from collections.abc import Iterator

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.other_files import unreadable
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import PARTITION_METADATA
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.simulate.starting import small_files


def of_partition(partition: Partition, facts: Facts) -> Iterator[Finding]:
    """What Kafka would not read, or reads all the same."""
    if not any(found.name == PARTITION_METADATA for found in partition.others):
        return
    data = b""
    try:
        data = file.read_whole(partition.path / PARTITION_METADATA, file.TEXT_BYTES)
        checkpoint.parse_partition_metadata(data)
    except CorruptBytes as fault:
        message = f"byte {fault.position}: {fault.what}"
        evidence = Evidence(fault.what, "version: 0, topic_id: 22 characters")
        refused = small_files.partition_metadata_fault(data, PARTITION_METADATA)
        consequence = (
            "" if refused else "Kafka looks at the values alone, and reads them all the same"
        )
        yield facts.found(
            "partition-metadata-bad",
            PARTITION_METADATA,
            message,
            evidence,
            fault.position,
            consequence=consequence,
        )
    except KafkavizError as fault:
        yield unreadable.of_file(PARTITION_METADATA, fault, facts)

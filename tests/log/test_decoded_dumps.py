"""Every record of the internal topics, compared with kafka-dump-log of Kafka 4.3.1."""

import re
import tarfile
from pathlib import Path

import pytest

from kafkaviz.format import batch, control, coordinator_records, metadata
from kafkaviz.format.names import parse_directory
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.file import info
from kafkaviz.log.segment import LogSegment
from tests.conftest import DATA
from tests.support.recorded_archives import RECORDED_ARCHIVES
from tests.support.vectors import json_lines

BROKERS = [name for name in RECORDED_ARCHIVES if name >= "kafka-4"]
LINE = re.compile(r"\| offset: (\d+) .*? headerKeys: \[\](?: (.*))?")
DUMPS = json_lines(DATA / "decoded_bodies.jsonl.gz")


def recorded(dump: str) -> list[list]:
    """Returns [offset, body] of each record's line of a dump."""
    matches = (LINE.fullmatch(line) for line in dump.splitlines())
    return [[int(match[1]), match[2] or ""] for match in matches if match]


def bodies(root: Path, name: str) -> list[list]:
    segment = LogSegment(base_offset=0, state="closed", log=info(root / name))
    directory = parse_directory(Path(name).parent.name)
    batches = segment.batches()
    return [
        [record.offset, body(record, bool(is_control), directory.topic if directory else "")]
        for position, is_control in zip(
            batches["position"].tolist(), batch.is_control(batches), strict=True
        )
        for record in segment.records(position)
    ]


def body(record, is_control: bool, topic: str) -> str:
    if is_control:
        return control.dump_text(record.key, record.value)
    if topic in coordinator_records.DECODER_OF_TOPIC:
        return coordinator_records.dump_text(
            record.key, record.value, record.offset, coordinator_records.DECODER_OF_TOPIC[topic]
        )
    return metadata.dump_text(record.value, record.offset)


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump["file"])
def test_the_sample_brokers_internal_topics(clean, dump):
    """Groups, commits, transactions, the metadata log, snapshots and bootstrap.checkpoint."""
    assert bodies(clean, dump["file"]) == dump["bodies"]
    assert len(dump["bodies"]) > 3


@pytest.mark.parametrize("name", BROKERS)
def test_all_internal_topics_of_a_broker(shared, name):
    """All records of each file that Kafka decoded, as it printed them."""
    root, records, files = unpack_if_archive(shared / "data" / f"{name}.tar.gz"), 0, 0
    with tarfile.open(shared / "data" / f"{name}.expected.tar.gz") as expected:
        for member in expected:
            _, _, file = member.name.partition(f"{name}.expected/dump/")
            if file.endswith(".decoded.out"):
                recorded_lines = recorded(expected.extractfile(member).read().decode())
                ours = bodies(root, file.removesuffix(".decoded.out"))
                assert ours == recorded_lines, file
                records, files = records + len(recorded_lines), files + 1
    assert (files > 8, records > 400) == (True, True), (files, records)

"""Broker directories of many tiny segments, made in seconds: their topic-partitions share files."""

import os
from pathlib import Path

from kafkaviz.format import names
from tests.pipeline.whole_logs import START_MS, batch

SEGMENTS, RECORDS = 50, 10  # of a partition, of a segment


def write_template(directory: Path) -> Path:
    directory.mkdir()
    for segment in range(SEGMENTS):
        base_offset = segment * RECORDS
        times_ms = [START_MS + base_offset + number for number in range(RECORDS)]
        stem = directory / f"{base_offset:020d}"
        stem.with_suffix(".log").write_bytes(batch(base_offset, times_ms))
        stem.with_suffix(".index").touch()
        stem.with_suffix(".timeindex").touch()
    return directory


def write_broker(directory: Path, template: Path, partitions: int) -> Path:
    """Writes a cleanly stopped broker directory whose files are links to those of the template."""
    directory.mkdir(parents=True)
    (directory / names.META_PROPERTIES).write_text("version=1\nnode.id=7\ncluster.id=many\n")
    (directory / names.CLEAN_SHUTDOWN).touch()
    files = sorted(template.iterdir())
    for partition in range(partitions):
        folder = directory / f"orders-{partition}"
        folder.mkdir()
        for file in files:
            os.link(file, folder / file.name)
    return directory


def change_segment(partition: Path) -> None:
    log = partition / f"{RECORDS:020d}.log"
    data = log.read_bytes()
    log.unlink()
    log.write_bytes(data)

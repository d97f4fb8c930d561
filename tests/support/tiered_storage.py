"""The recorded broker with tiered storage, and a copy of its store in the layout of Aiven's plugin."""

import base64
import json
import shutil
import struct
import tarfile
from pathlib import Path

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.format import remote_segment
from kafkaviz.format.remote_segment import LEADER_EPOCHS, LOCAL_ROOT
from kafkaviz.log.partition import Partition
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.remote_log_metadata import COPY_STARTED, RemoteLogSegment
from kafkaviz.log.tiered.tiered_partition import TieredPartition, TieredSegment
from kafkaviz.log.tiered.tiered_view import TieredState
from tests.support.vectors import json_lines

DATA = Path(__file__).parents[1] / "data"
ARCHIVE = DATA / "kafka-4.3.1-tiered.tar.xz"
ANSWERS = DATA / "kafka-4.3.1-tiered-answers.jsonl.gz"


def answers() -> dict[str, dict]:
    """Returns the answers of the broker and of a consumer about each topic."""
    return {line["topic"]: line for line in json_lines(ANSWERS)}


def partition_of(state: TieredState, directory: str) -> TieredPartition:
    return next(partition for partition in state.partitions if partition.directory == directory)


def segment_of(segment_id: str, first: int, last: int, epochs: dict[int, int]) -> RemoteLogSegment:
    """Returns a segment whose copy has started."""
    return RemoteLogSegment(
        segment_id=segment_id,
        start_offset=first,
        end_offset=last,
        leader_epochs=epochs,
        state=COPY_STARTED,
    )


def unpack(folder: Path) -> tuple[Path, Path]:
    """Returns the broker directory and the store."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "logs", folder / "store"


def write_local_store(partition: Partition, target: Path) -> Path:
    """Writes the closed segments of a partition in LocalTieredStorage's layout."""
    folder = target / LOCAL_ROOT / f"{partition.directory}-{partition.topic_id}"
    folder.mkdir(parents=True)
    for number, segment in enumerate(partition.live[:-1]):
        following = partition.live[number + 1].base_offset
        segment_id = base64.urlsafe_b64encode(number.to_bytes(16, "big")).decode()[:22]
        stem = f"{segment.base_offset:020}-{segment_id}"
        for info in segment.files:
            shutil.copy(info.path, folder / f"{stem}{info.path.suffix}")
        shutil.copy(partition.path / f"{following:020}.snapshot", folder / f"{stem}.snapshot")
        epochs = (partition.path / "leader-epoch-checkpoint").read_bytes()
        (folder / f"{stem}.{LEADER_EPOCHS}").write_bytes(epochs)
    return target


def write_aiven_store(
    source: Path,
    logs: Path,
    target: Path,
    *,
    compressed: bool,
    chunk_bytes: int = 1000,
    prefix: str = "kafka/",
) -> Path:
    """Writes the segments of a LocalTieredStorage in the documented layout of Aiven's plugin 1.1.1."""
    for partition in tiered_view.read_state(source, logs).partitions:
        for segment in partition.segments:
            if segment.stored:
                _write_segment(segment, target, prefix, chunk_bytes, compressed=compressed)
    return target


def _write_segment(
    segment: TieredSegment, target: Path, prefix: str, chunk_bytes: int, *, compressed: bool
) -> None:
    stored = segment.stored
    assert stored is not None
    partition = stored.partition
    main = (
        f"{prefix}{partition.topic}-{partition.topic_id}/{partition.partition}/"
        f"{stored.start_offset:020}-{stored.segment_id}"
    )
    log = stored.files["log"].path.read_bytes()
    chunks = [log[start : start + chunk_bytes] for start in range(0, len(log), chunk_bytes)]
    if compressed:
        chunks = [codec.compress("zstd", chunk) for chunk in chunks]
    sizes = np.array([len(chunk) for chunk in chunks])
    fields: dict = {"originalChunkSize": chunk_bytes, "originalFileSize": len(log)}
    if compressed:
        binary = codec.compress("zstd", encode_sizes(sizes))
        fields |= {"type": "variable", "transformedChunks": base64.b64encode(binary).decode()}
    else:
        fields |= {"type": "fixed", "transformedChunkSize": chunk_bytes}
        fields["finalTransformedChunkSize"] = int(sizes[-1])
    indexes, ranges = b"", {}
    for name, kind in remote_segment.INDEX_KINDS.items():
        info = stored.files.get(kind)
        data = info.path.read_bytes() if info else b""
        ranges[name] = {"position": len(indexes), "size": len(data)} if info else None
        indexes += data
    topic_partition = {"topic": partition.topic, "partition": partition.partition}
    topic_id_partition = {"topicId": partition.topic_id, "topicPartition": topic_partition}
    manifest = {
        "version": "1",
        "chunkIndex": fields,
        "segmentIndexes": ranges,
        "compression": compressed,
        "remoteLogSegmentMetadata": {
            "remoteLogSegmentId": {"topicIdPartition": topic_id_partition, "id": stored.segment_id},
            "startOffset": segment.start_offset,
            "endOffset": segment.end_offset,
            "maxTimestampMs": 0,
            "brokerId": 1,
            "eventTimestampMs": 0,
            "segmentLeaderEpochs": {
                str(epoch): offset for epoch, offset in segment.leader_epochs.items()
            },
        },
    }
    contents = {"log": b"".join(chunks), "indexes": indexes}
    contents["rsm-manifest"] = json.dumps(manifest).encode()
    for kind, content in contents.items():
        path = target / f"{main}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def encode_sizes(sizes: np.ndarray) -> bytes:
    """Encodes the sizes of chunks, with as few bytes per size as possible."""
    count = struct.pack(">i", len(sizes))
    if len(sizes) <= 1:
        return count + np.asarray(sizes, ">i4").tobytes()
    smallest = int(min(sizes[:-1]))
    above = np.asarray(sizes[:-1], np.int64) - smallest
    width = max(1, (int(above.max()).bit_length() + 7) // 8)
    rows = above.astype(">i8").view(np.uint8).reshape(-1, 8)[:, 8 - width :]
    last = struct.pack(">i", int(sizes[-1]))
    return count + struct.pack(">ib", smallest, width) + rows.tobytes() + last

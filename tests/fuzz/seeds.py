"""The seeds of the soak: small pieces of real Kafka's files in every format, from tests/data and
sample_data.

Whole directories are values too: {"orders-0/00000000000000000000.log": b"..."}. Logs are cut after
a few batches and their indexes after the last entry into them, so that reading a directory takes
milliseconds.
"""

import base64
import json
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.format.walk import walk
from tests.cli.hostile_files import tiny_batch, wrapper
from tests.support.tiered_storage import encode_sizes
from tests.support.vectors import json_lines, unpacked

DATA = Path(__file__).parents[1] / "data"
SAMPLE = Path(__file__).parents[2] / "sample_data" / "kafka-4.3.1-damaged.tar.gz"
MANY_RECORDS = 5000  # of a batch that is gone through run by run
# of a batch alone, of a log alone, of a log in a directory
BATCH_BYTES, LOG_BYTES, SEGMENT_BYTES = 2000, 8000, 4000
TEXTS = (
    *("meta.properties", "partition.metadata", "quorum-state", ".kafka_cleanshutdown"),
    *("leader-epoch-checkpoint", "recovery-point-offset-checkpoint"),
)

Tree = dict[str, bytes]


class Body(NamedTuple):
    decoder: str
    key: bytes | None
    value: bytes | None


class Text(NamedTuple):
    name: str
    data: bytes


class Packed(NamedTuple):
    """Compressed data without the header of a batch."""

    codec: str
    data: bytes


def _lines(name: str) -> list[dict]:
    return json_lines(DATA / f"{name}.jsonl.gz")


@cache
def batches() -> tuple[bytes, ...]:
    """Returns single batches of all magics and codecs, whole and damaged."""
    recorded = [bytes.fromhex(line["hex"]) for line in _lines("batches")]
    every = [*recorded, tiny_batch(MANY_RECORDS), wrapper(MANY_RECORDS)]
    return tuple(batch for batch in every if len(batch) <= BATCH_BYTES)


@cache
def logs() -> tuple[bytes, ...]:
    """Returns logs of a few batches: recorded stretches, whole small ones, mixed magics."""
    recorded = [bytes.fromhex(line["hex"]) for line in _lines("legacy_logs")]
    recorded += [unpacked(line["log_gz"]) for line in _lines("recoveries")]
    recorded += _dumped_files(".log")
    recorded += [path.read_bytes() for path in sorted((DATA / "kafka-4.3.1").rglob("*.log"))]
    recorded += [
        content for name, content in _sample().items() if name.endswith((".log", ".checkpoint"))
    ]
    single = [batch for batch in batches() if walk(batch)[1].reason == "end"]
    recorded += [b"".join(single[at : at + 4]) for at in range(0, len(single) - 4, 7)]
    return tuple(dict.fromkeys(_cut(batch, LOG_BYTES) for batch in recorded if batch))


@cache
def offset_indexes() -> tuple[bytes, ...]:
    return _indexes(".index")


@cache
def time_indexes() -> tuple[bytes, ...]:
    return _indexes(".timeindex")


@cache
def txn_indexes() -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(line["hex"]) for line in _lines("txn-index") if line["hex"])


@cache
def snapshots() -> tuple[bytes, ...]:
    return tuple(bytes.fromhex(line["hex"]) for line in _lines("producer-snapshots") if line["hex"])


@cache
def bodies() -> tuple[Body, ...]:
    """Returns keys and values of control records, of KRaft's, and of Kafka's own topics."""
    return tuple(
        Body(line["decoder"], _unhex(line["key"]), _unhex(line["value"]))
        for line in _lines("printed_bodies")
    )


@cache
def texts() -> tuple[Text, ...]:
    """Returns the small text files of broker directories, some in the forms of other releases."""
    lines = [Text(Path(name).name, data) for name, data in _sample().items() if data]
    return (
        *dict.fromkeys(text for text in lines if text.name in TEXTS),
        Text(
            "recovery-point-offset-checkpoint",
            b"0\n3\norders 0 38736\norders 1 4795\n__consumer_offsets 17 9\n",
        ),
        Text("leader-epoch-checkpoint", b"0\n3\n0 0\n4 1200\n7 9223372036854775807\n"),
        Text(
            "meta.properties",
            b"#\n#Mon Nov 13 10:00:00 UTC 2023\r\nbroker.id = 1\nversion:0\n"
            b"cluster.id=a\\u0041b\\\n  c\n",
        ),
        Text("partition.metadata", b"version: 0\ntopic_id: tpx8pd1IQDqJwMfGzXj6GA"),
        Text(
            "quorum-state",
            b'{"clusterId":"","leaderId":1,"leaderEpoch":3,"votedId":-1,"appliedOffset":0,'
            b'"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}',
        ),
        Text(".kafka_cleanshutdown", b'{"version":0,"brokerEpoch":13}'),
        *(Text("0.rsm-manifest", manifest) for manifest in _manifests()),
        Text(
            "server.properties", b"log.roll.hours=168\nlog.index.interval.bytes=4096\nnode.id=1\n"
        ),
    )


def _manifests() -> Iterator[bytes]:
    """Returns manifests of a remote segment with chunks of one size, and with compressed ones."""
    files = ("offset", "timestamp", "producerSnapshot", "leaderEpoch")
    topic_partition = {"topic": "orders", "partition": 3}
    partition = {"topicId": "goH9ontlS-uQ6q8sq1Nrgg", "topicPartition": topic_partition}
    remote = {
        "remoteLogSegmentId": {"topicIdPartition": partition, "id": "JvhShYdlQ4-DnD8Pm6LlQA"},
        "startOffset": 20,
        "endOffset": 39,
        "maxTimestampMs": 1790000000000,
        "segmentLeaderEpochs": {"0": 20, "2": 31},
    }
    indexes = {name: {"position": 8 * at, "size": 8} for at, name in enumerate(files)}
    sizes = {"transformedChunkSize": 110, "finalTransformedChunkSize": 60}
    binary_sizes = encode_sizes(np.array([70, 90, 40]))
    packed_sizes = base64.b64encode(codec.compress("zstd", binary_sizes)).decode()
    for kind, chunks in (("fixed", sizes), ("variable", {"transformedChunks": packed_sizes})):
        index = {"type": kind, "originalChunkSize": 100, "originalFileSize": 250} | chunks
        manifest = {"version": "1", "chunkIndex": index, "segmentIndexes": indexes}
        manifest |= {"compression": kind == "variable", "remoteLogSegmentMetadata": remote}
        yield json.dumps(manifest).encode()


@cache
def packed() -> tuple[Packed, ...]:
    """Returns the records of compressed batches, as their codec left them."""
    recorded = [
        Packed(codec.CODECS[row["attributes"] & 7], batch[HEADER_BYTES : int(row["size_bytes"])])
        for batch in batches()
        for row in walk(batch)[0][:1]
        if row["magic"] == 2 and 0 < row["attributes"] & 7 < 5
    ]
    plain = b"kafka " * 200 + bytes(range(256))
    return (*recorded, *(Packed(name, codec.compress(name, plain)) for name in codec.CODECS[1:]))


@cache
def partitions() -> tuple[Tree, ...]:
    """Returns topic-partition directories of one to three small segments."""
    return tuple(_partitions())


@cache
def brokers() -> tuple[Tree, ...]:
    """Returns broker directories with their metadata log, stopped cleanly and not."""
    root = {name: data for name, data in _sample().items() if "/" not in name}
    metadata, *others = _of_sample()
    older = _indexed_legacy()
    together = [
        metadata | others[0] | others[-1],
        metadata | others[1] | older,
        metadata | others[-2] | others[2],
    ]
    killed = {name: data for name, data in root.items() if name != ".kafka_cleanshutdown"}
    return tuple(tree | how for tree in together for how in (root, killed))


def _partitions() -> Iterator[Tree]:
    yield from _of_sample()
    yield _indexed_legacy()
    for folder in sorted((DATA / "kafka-4.3.1").iterdir()):
        yield _small(
            {f"{folder.name}/{path.name}": path.read_bytes() for path in sorted(folder.iterdir())}
        )
    known = set()
    for line in _lines("damaged_dumps"):
        tree = {f"orders-0/{name}": data for name, data in _files(line) if len(data) <= LOG_BYTES}
        kinds = frozenset(name.rpartition(".")[2] for name in tree)
        size_bytes = sum(map(len, tree.values()))
        if len(kinds) > 1 and (kinds, size_bytes) not in known:
            known.add((kinds, size_bytes))
            yield tree


def _of_sample() -> list[Tree]:
    """Returns the partitions of the sample, cut to a few batches, the metadata log first."""
    names = dict.fromkeys(name.partition("/")[0] for name in _sample() if "/" in name)
    return [
        _small({name: data for name, data in _sample().items() if name.startswith(f"{directory}/")})
        for directory in names
    ]


def _indexed_legacy() -> Tree:
    """Returns a directory of messages of magic 0 and 1, with entries that lead to some of them."""
    tree: Tree = {}
    for number, line in enumerate(_lines("legacy_logs")):
        log = _cut(bytes.fromhex(line["hex"]), SEGMENT_BYTES)
        batches_of_log = walk(log)[0]
        if number < 3 and len(batches_of_log):
            stem = f"old-0/{int(batches_of_log['last_offset'][0]):020}"
            entered = batches_of_log[1::2]
            index = np.zeros(len(entered), offset_index.ENTRY)
            index["relative_offset"] = entered["last_offset"] - batches_of_log["last_offset"][0]
            index["position"] = entered["position"]
            tree |= {f"{stem}.log": log, f"{stem}.index": index.tobytes()}
            tree[f"{stem}.timeindex"] = bytes(24)
    return tree


def _small(tree: Tree) -> Tree:
    """Returns three segments of a partition with cut logs and indexes, and all other files."""
    stems = sorted({name[: -len(".log")] for name in tree if name.endswith(".log")})[:3]
    contents = {
        name: data
        for name, data in tree.items()
        if not name.endswith((".log", ".index", ".timeindex", ".txnindex"))
    }
    for stem in stems:
        log = _cut(tree[f"{stem}.log"], SEGMENT_BYTES)
        contents[f"{stem}.log"] = log
        if f"{stem}.index" in tree:
            entries = offset_index.parse(tree[f"{stem}.index"])
            contents[f"{stem}.index"] = entries[entries["position"] < len(log)].tobytes()
        if f"{stem}.timeindex" in tree:
            entries = time_index.parse(tree[f"{stem}.timeindex"])
            contents[f"{stem}.timeindex"] = entries[:3].tobytes()
        if f"{stem}.txnindex" in tree:
            contents[f"{stem}.txnindex"] = tree[f"{stem}.txnindex"][:102]
    return contents


def _cut(log: bytes, most_bytes: int) -> bytes:
    """Returns the log up to the last batch that ends within this many bytes."""
    if len(log) <= most_bytes:
        return log
    batches_of_log = walk(log)[0]
    ends = batches_of_log["position"] + batches_of_log["size_bytes"]
    ends = ends[ends <= most_bytes]
    return log[: int(ends[-1])] if len(ends) else log[:most_bytes]


@cache
def _sample() -> Tree:
    with tarfile.open(SAMPLE) as packed_tree:
        return {
            member.name.partition("/")[2]: packed_tree.extractfile(member).read()
            for member in packed_tree
            if member.isfile()
        }


def _indexes(suffix: str) -> tuple[bytes, ...]:
    """Returns whole index files; of a long one its beginning and a few of the zeros at its end."""
    contents = [path.read_bytes() for path in sorted(DATA.rglob(f"*{suffix}"))]
    contents += [data for name, data in _sample().items() if name.endswith(suffix)]
    contents += _dumped_files(suffix)
    shortened = [data if len(data) <= 600 else data[:480] + data[-120:] for data in contents]
    return tuple(dict.fromkeys(filter(None, shortened)))


def _dumped_files(suffix: str) -> list[bytes]:
    files = [file for line in _lines("damaged_dumps") for file in _files(line)]
    return [data for name, data in files if name.endswith(suffix)]


def _files(line: dict) -> list[tuple[str, bytes]]:
    return [(name, base64.b64decode(data)) for name, data in line["files"].items()]


def _unhex(digits: str | None) -> bytes | None:
    return None if digits is None else bytes.fromhex(digits)

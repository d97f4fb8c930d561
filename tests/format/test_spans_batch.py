"""The spans of batches, compared with Kafka 4.3.1's own classes."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz import units
from kafkaviz.binary.layouts import TORN, Span, find_overlapping
from kafkaviz.errors import CorruptBytes
from kafkaviz.format.spans_batch import batch, decompress, is_compressed
from kafkaviz.messages import message
from tests.conftest import DATA
from tests.support.cases import all_cases
from tests.support.spans import check

with gzip.open(DATA / "batches.jsonl.gz", "rt") as lines:
    BATCHES = [json.loads(line) for line in lines]
COMPLETE = [
    batch_line
    for batch_line in BATCHES
    if "header" in batch_line and batch_line["header"]["sizeInBytes"] * 2 == len(batch_line["hex"])
]
WITH_RECORDS = [
    batch_line
    for batch_line in COMPLETE
    if "records" in batch_line and not batch_line["name"].startswith("broken-")
]
FIELDS_OF_MAGIC_2 = {
    **{
        name: name
        for name in (
            "baseOffset",
            "partitionLeaderEpoch",
            "magic",
            "lastOffsetDelta",
            "baseTimestamp",
            "maxTimestamp",
        )
    },
    **{name: name for name in ("producerId", "producerEpoch", "baseSequence")},
    "recordCount": "countOrNull",
}


def span_named(spans: list[Span], name: str) -> Span:
    (span,) = [span for span in spans if span.name == name]
    return span


def number(span: Span) -> int:
    return int(span.value.replace("\u202f", ""))


def read_parts(spans: list[Span], data: bytes, name: str) -> list[str | None]:
    """Returns the hex digits of each record's key or value, or null by its length."""
    leaves = []
    for at, span in enumerate(spans):
        if span.name == f"{name}Length":
            follows = spans[at + 1] if at + 1 < len(spans) and spans[at + 1].name == name else None
            size = int(span.value)
            leaves.append(
                None if size < 0 else data[follows.start : follows.end].hex() if follows else ""
            )
    return leaves


@all_cases("recorded", BATCHES, ids=lambda recorded: recorded["name"])
def test_every_byte_has_a_span(recorded):
    data = bytes.fromhex(recorded["hex"])
    all_spans = batch(data, 1000)
    check(all_spans, 1000, 1000 + len(data))
    for start, stop in (
        (1000, 1017),
        (1061, 1070),
        (1000 + len(data) // 2, 1000 + len(data) // 2 + 20),
    ):
        assert batch(data, 1000, None, start, stop) == find_overlapping(all_spans, start, stop)


@all_cases(
    "recorded",
    [batch_line for batch_line in COMPLETE if batch_line["header"]["magic"] == 2],
    ids=lambda recorded: recorded["name"],
)
def test_a_header_says_what_kafka_read(recorded):
    """Field by field, and whether Kafka found the checksum right."""
    spans, header = batch(bytes.fromhex(recorded["hex"])), recorded["header"]
    values = {name: number(span_named(spans[:13], name)) for name in FIELDS_OF_MAGIC_2}
    assert values == {name: header[key] for name, key in FIELDS_OF_MAGIC_2.items()}
    crc = span_named(spans[:13], "crc")
    assert (
        int(crc.value, 16) == header["checksum"]
        and (crc.note.key == "span.checksum_matches") == header["isValid"]
    )


@all_cases("recorded", WITH_RECORDS, ids=lambda recorded: recorded["name"])
def test_keys_and_values_are_those_kafka_read(recorded):
    """In the batch itself or decompressed; the spans cover those bytes without gaps."""
    data = bytes.fromhex(recorded["hex"])
    within = decompress(data)
    assert (within is not None) == is_compressed(data) == recorded["header"]["isCompressed"]
    spans, records = (within.spans, within.data) if within else (batch(data), data)
    check(spans, 0, len(records))
    assert not [span for span in spans if span.kind == TORN]
    for name in ("key", "value"):
        assert read_parts(spans, records, name) == [
            record[f"{name}Hex"] for record in recorded["records"]
        ]


@all_cases(
    "recorded",
    [batch_line for batch_line in WITH_RECORDS if batch_line["header"]["magic"] == 2],
    ids=lambda recorded: recorded["name"],
)
def test_offsets_and_times_are_those_kafka_read(recorded):
    """An offset is the batch's plus the delta, a time the base plus the delta."""
    data = bytes.fromhex(recorded["hex"])
    spans = within.spans if (within := decompress(data)) else batch(data)
    offsets = [span.note for span in spans if span.name == "offsetDelta"]
    times = [span.note for span in spans if span.name == "timestampDelta"]
    assert offsets == [
        message("span.offset", offset=record["offset"]) for record in recorded["records"]
    ]
    texts = [
        "−1: no time." if (at := record["timestamp"]) == -1 else f"{units.moment(at)} UTC."
        for record in recorded["records"]
    ]
    assert all(words in str(note) for words, note in zip(texts, times, strict=True))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("control-commit-0", "COMMIT", "endTxnMarker: COMMIT coordinatorEpoch: 49."),
        ("control-snapshot-footer", "SNAPSHOT_FOOTER", 'SnapshotFooter {"version":0}.'),
        ("control-unknown-type-9", "unknown", "controlType: UNKNOWN(9)."),
    ],
)
def test_control_records_say_what_they_are(name, key, value):
    """The key shows its type, the value what Kafka's dump prints of it."""
    spans = batch(
        bytes.fromhex(
            next(batch_line["hex"] for batch_line in BATCHES if batch_line["name"] == name)
        )
    )
    assert str(span_named(spans, "key").note) == f"Which control record this is: {key}."
    assert str(span_named(spans, "value").note) == value


WRAPPERS = [
    batch_line
    for batch_line in WITH_RECORDS
    if batch_line["header"]["magic"] < 2 and batch_line["header"]["isCompressed"]
]


@all_cases("recorded", WRAPPERS, ids=lambda recorded: recorded["name"])
def test_a_wrapper_gives_its_messages_their_offsets(recorded):
    """Inner messages of magic 1 count from 0; the span shows the offset that Kafka read."""
    within = decompress(bytes.fromhex(recorded["hex"]))
    notes = [
        str(span.note)
        for span in within.spans
        if span.name == "offset" and str(span.note).startswith("Offset ")
    ]
    assert [note.partition(":")[0] for note in notes] == [
        f"Offset {units.format_count(record['offset'])}" for record in recorded["records"]
    ]


def test_the_recording_holds_every_kind():
    kinds = {
        (batch_line["header"]["magic"], batch_line["header"]["isCompressed"])
        for batch_line in WITH_RECORDS
    }
    assert kinds == {(magic, compressed) for magic in (0, 1, 2) for compressed in (True, False)}


SMALL = [
    bytes.fromhex(batch_line["hex"]) for batch_line in WITH_RECORDS if len(batch_line["hex"]) < 2000
]


CHANGES = st.lists(st.tuples(st.integers(0, 999), st.binary(min_size=1, max_size=4)), max_size=4)


@given(st.sampled_from(SMALL), CHANGES, st.integers(0, 1000))
def test_any_damage_is_tiled(data, changes, cut):
    """After any overwrite or cut every byte still has exactly one span."""
    changed = bytearray(data)
    for at, new in changes:
        at %= len(data)
        changed[at : at + len(new)] = new
    changed = bytes(changed[: max(1, min(len(data), cut))])
    check(batch(changed), 0, len(changed))
    try:
        within = decompress(changed)
    except CorruptBytes:
        return
    if within:
        check(within.spans, 0, len(within.data))


def test_a_batch_read_in_part_ends_in_one_span():
    """A batch that is too large shows its header and first records, and how many bytes follow."""
    data = max(
        SMALL, key=lambda data: len(data) if data[16] == 2 and not is_compressed(data) else 0
    )
    spans = batch(data[:200], 0, len(data))
    check(spans, 0, len(data))
    assert (spans[-1].start, spans[-1].name) == (200, "records")

"""The spans of batches, compared with Kafka 4.3.1's own classes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz import units
from kafkaviz.binary.layouts import TORN, Span, find_overlapping
from kafkaviz.errors import CorruptBytes
from kafkaviz.format.spans_batch import batch, decompress, is_compressed
from kafkaviz.messages import message
from tests.support.cases import all_cases
from tests.support.recorded import recorded
from tests.support.spans import check

BATCHES = recorded("batches")
COMPLETE = [
    line
    for line in BATCHES
    if "header" in line and line["header"]["sizeInBytes"] * 2 == len(line["hex"])
]
WITH_RECORDS = [
    line for line in COMPLETE if "records" in line and not line["name"].startswith("broken-")
]
SAME_NAMES = (
    "baseOffset partitionLeaderEpoch magic lastOffsetDelta baseTimestamp maxTimestamp producerId "
    "producerEpoch baseSequence"
)
FIELDS_OF_MAGIC_2 = {name: name for name in SAME_NAMES.split()} | {"recordCount": "countOrNull"}


def of_magic_2(lines: list[dict]) -> list[dict]:
    return [line for line in lines if line["header"]["magic"] == 2]


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
            follows = [part for part in spans[at + 1 : at + 2] if part.name == name]
            text = "".join(data[part.start : part.end].hex() for part in follows)
            leaves.append(None if int(span.value) < 0 else text)
    return leaves


@all_cases("line", BATCHES, ids=lambda line: line["name"])
def test_every_byte_has_a_span(line):
    data = bytes.fromhex(line["hex"])
    all_spans = batch(data, 1000)
    check(all_spans, 1000, 1000 + len(data))
    middle = 1000 + len(data) // 2
    for start, stop in ((1000, 1017), (1061, 1070), (middle, middle + 20)):
        assert batch(data, 1000, None, start, stop) == find_overlapping(all_spans, start, stop)


@all_cases("line", of_magic_2(COMPLETE), ids=lambda line: line["name"])
def test_a_header_says_what_kafka_read(line):
    """Field by field, and whether Kafka found the checksum right."""
    spans, header = batch(bytes.fromhex(line["hex"])), line["header"]
    values = {name: number(span_named(spans[:13], name)) for name in FIELDS_OF_MAGIC_2}
    assert values == {name: header[key] for name, key in FIELDS_OF_MAGIC_2.items()}
    crc = span_named(spans[:13], "crc")
    assert int(crc.value, 16) == header["checksum"]
    assert (crc.note.key == "span.checksum_matches") == header["isValid"]


@all_cases("line", WITH_RECORDS, ids=lambda line: line["name"])
def test_keys_and_values_are_those_kafka_read(line):
    """In the batch itself or decompressed; the spans cover those bytes without gaps."""
    data = bytes.fromhex(line["hex"])
    within = decompress(data)
    assert (within is not None) == is_compressed(data) == line["header"]["isCompressed"]
    spans, records = (within.spans, within.data) if within else (batch(data), data)
    check(spans, 0, len(records))
    assert not [span for span in spans if span.kind == TORN]
    for name in ("key", "value"):
        expected = [record[f"{name}Hex"] for record in line["records"]]
        assert read_parts(spans, records, name) == expected


@all_cases("line", of_magic_2(WITH_RECORDS), ids=lambda line: line["name"])
def test_offsets_and_times_are_those_kafka_read(line):
    """An offset is the batch's plus the delta, a time the base plus the delta."""
    data = bytes.fromhex(line["hex"])
    spans = within.spans if (within := decompress(data)) else batch(data)
    offsets = [span.note for span in spans if span.name == "offsetDelta"]
    times = [span.note for span in spans if span.name == "timestampDelta"]
    records = line["records"]
    assert offsets == [message("span.offset", offset=record["offset"]) for record in records]
    texts = [
        "−1: no time." if (at := record["timestamp"]) == -1 else f"{units.moment(at)} UTC."
        for record in records
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
    [data] = [bytes.fromhex(line["hex"]) for line in BATCHES if line["name"] == name]
    spans = batch(data)
    assert str(span_named(spans, "key").note) == f"Which control record this is: {key}."
    assert str(span_named(spans, "value").note) == value


WRAPPERS = [
    line for line in WITH_RECORDS if line["header"]["magic"] < 2 and line["header"]["isCompressed"]
]


@all_cases("line", WRAPPERS, ids=lambda line: line["name"])
def test_a_wrapper_gives_its_messages_their_offsets(line):
    """Inner messages of magic 1 count from 0; the span shows the offset that Kafka read."""
    within = decompress(bytes.fromhex(line["hex"]))
    notes = [str(span.note) for span in within.spans if span.name == "offset"]
    found = [note.partition(":")[0] for note in notes if note.startswith("Offset ")]
    offsets = [record["offset"] for record in line["records"]]
    assert found == [f"Offset {units.format_count(offset)}" for offset in offsets]


def test_the_recording_holds_every_kind():
    headers = [line["header"] for line in WITH_RECORDS]
    kinds = {(header["magic"], header["isCompressed"]) for header in headers}
    assert kinds == {(magic, compressed) for magic in (0, 1, 2) for compressed in (True, False)}


SMALL = [bytes.fromhex(line["hex"]) for line in WITH_RECORDS if len(line["hex"]) < 2000]
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
    data = max((data for data in SMALL if data[16] == 2 and not is_compressed(data)), key=len)
    spans = batch(data[:200], 0, len(data))
    check(spans, 0, len(data))
    assert (spans[-1].start, spans[-1].name) == (200, "records")

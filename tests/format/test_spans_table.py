"""The spans of indexes and producer snapshots, for any stretch of whole, cut and unwritten files."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.binary.layouts import TORN, UNWRITTEN, Span, find_overlapping
from kafkaviz.format import offset_index, spans_table
from kafkaviz.format.spans_table import offset_entries, rows, snapshot, time_entries, txn_entries
from kafkaviz.messages import message
from tests.support.cases import all_cases
from tests.support.recorded import recorded
from tests.support.spans import check

TABLES = {"index": offset_entries(1000), "timeindex": time_entries(1000), "txnindex": txn_entries()}
SNAPSHOTS = recorded("producer-snapshots")


@given(
    st.sampled_from(sorted(TABLES)),
    st.integers(0, 5),
    st.integers(0, 5),
    st.integers(0, 33),
    st.integers(0, 400),
    st.integers(0, 400),
)
def test_any_stretch_is_tiled(kind, written, unwritten, trailing, start, length):
    """The rows of a stretch equal those of the whole file. Zeros after the last written row are one
    span; a cut row is another.
    """
    table = TABLES[kind]
    row_bytes = table.layout.itemsize
    trailing %= row_bytes
    written_bytes = written * row_bytes
    size_bytes = written_bytes + unwritten * row_bytes + trailing
    sizes = {"written_bytes": written_bytes, "size_bytes": size_bytes}
    data = bytes(range(1, 251))[:written_bytes]
    all_rows = rows(table, data, 0, size_bytes, **sizes)
    check(all_rows, 0, size_bytes)
    kinds = [span.kind for span in all_rows]
    assert (kinds.count(UNWRITTEN), kinds.count(TORN)) == (bool(unwritten), bool(trailing))
    first, stop = start - start % row_bytes, min(size_bytes, start + length)
    part = rows(table, data[first : stop + -stop % row_bytes], first, stop, **sizes)
    assert find_overlapping(part, start, stop) == find_overlapping(all_rows, start, stop)


def test_an_index_entry_in_words():
    """Slot 5 of a segment that starts at offset 1000."""
    entries = np.zeros(6, offset_index.ENTRY)
    entries[5] = (171, 21310)
    data = offset_index.build(entries)
    table_rows = rows(TABLES["index"], data, 0, 48, written_bytes=48, size_bytes=48)[-2:]
    slot = message("span.slot", n=5)
    assert [span[:5] for span in table_rows] == [
        (40, 44, message("span.row_field", row=slot, field="relativeOffset"), "171", "offset"),
        (44, 48, "position", "21\u202f310", "position"),
    ]
    assert table_rows[0].note == message("span.index_offset", offset=1171)


@all_cases("line", SNAPSHOTS, ids=lambda line: line["id"])
def test_snapshots_are_tiled_and_checked(line):
    """The spans of whole snapshots say what Kafka's classes said. Damaged ones are covered too, and
    the checksum is marked right or wrong.
    """
    data = bytes.fromhex(line["hex"])
    spans = snapshot(data)
    check(spans, 0, len(data))
    if line["valid"]:
        ids = [int(span.value) for span in spans if str(span.name).endswith("producerId")]
        assert sorted(ids) == sorted(producer["producerId"] for producer in line["producers"])
        assert spans[1].note.key == "span.checksum_matches"
    elif "CRC" in line["message"]:
        assert spans[1].note.key == "span.snapshot_checksum_differs"


@given(st.binary(max_size=200))
def test_any_bytes_called_snapshot_are_tiled(data):
    check(snapshot(data), 0, len(data))


def test_lines_of_a_checkpoint():
    """Version, count and entries, each with its line end; the last line may have none."""
    data = b"0\n2\r\norders 0 38736\rorders 1 4795"
    lines = spans_table.lines(data, "recovery-point-offset-checkpoint")
    check(lines, 0, len(data))
    assert [(span.name, span.value) for span in lines] == [
        ("version", "0"),
        (message("span.entry_count"), "2"),
        (message("span.entry", n=0), "orders 0 38736"),
        (message("span.entry", n=1), "orders 1 4795"),
    ]


def test_lines_of_properties():
    lines = spans_table.lines(b"#note\ncluster.id=abc\n", "meta.properties")
    assert lines == [
        Span(0, 6, message("span.line", n=1), "#note", "payload"),
        Span(6, 21, "cluster.id", "cluster.id=abc", "payload"),
    ]


@given(st.binary(max_size=60), st.sampled_from(["meta.properties", "leader-epoch-checkpoint"]))
def test_any_text_is_tiled(data, name):
    check(spans_table.lines(data, name), 0, len(data))

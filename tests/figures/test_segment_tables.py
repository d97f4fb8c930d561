"""The tables below the ruler, row by row, and the CSV of each, read back."""

import csv
import io

import numpy as np
import pytest

from kafkaviz.analysis.segment import anatomy
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.app.widgets.tables import arrow_csv
from kafkaviz.figures.segment import segment_tables as tables
from kafkaviz.figures.segment.segment_tables import BatchRow, IndexRow, PinnedRow, TimeRow
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.read.rows import batch_columns
from tests.analysis import arrays


@pytest.fixture(scope="module")
def payments(clean):
    return anatomy.read(open_broker(clean).partition("payments-0").segment(7975))


def plain(row):
    return type(row)(
        *(cell.replace("\u202f", " ") if isinstance(cell, str) else cell for cell in row)
    )


def test_rows_of_a_real_segment(payments):
    """Around offset 11612, with the chosen row in the middle."""
    row = int(np.flatnonzero(payments.batches.all_rows()["base_offset"] == 11612)[0])
    pin = tables.find_pinned_row(payments, row)
    assert pin == PinnedRow(row, 95, 95)
    batches = list(map(plain, tables.batch_rows(payments, pin)))
    index = list(map(plain, tables.index_rows(payments, pin)))
    times = list(map(plain, tables.time_rows(payments, pin, "roll")))
    assert batches[5] == BatchRow(
        *("479 997", "1 861 B", "11 612–11 625", "14", "09:29:44.123"),
        *("none", "0", "f602385d", 2, 95, 94, "", True),
    )
    assert (batches[4].slot, batches[4].found_from_slot, batches[4].is_pinned) == (NONE, 94, False)
    assert len(batches) == 11
    # 0xe42 = 3650, 0x752fd = 479 997
    assert index[5] == IndexRow(
        *("95", "760", "00000e42 000752fd", "3 650", "11 625", "479 997", "4 371 B"),
        *("11 612–11 625", "", True),
    )
    first = tables.index_rows(payments, PinnedRow(0, 0, 0))[0]
    assert first.slot == "0" and first.gap == f"{first.position} B"
    assert times[5] == TimeRow(
        "95", "1 140", "2026-11-21 09:29:44.123", "11 625", "slot 95", "1 ms", "", True
    )


def test_the_chosen_row_stays_in_view():
    assert list(tables.rows_around(100, 50)) == list(range(45, 56))
    assert list(tables.rows_around(100, 0)) == list(range(11))
    assert list(tables.rows_around(100, 99)) == list(range(89, 100))
    assert list(tables.rows_around(3, 2)) == [0, 1, 2] and list(tables.rows_around(0, 0)) == []


def test_what_goes_with_a_row():
    """Its own entry, else the one a search lands on; that entry's time entry, or its own."""
    table = arrays.batches([100] * 9)
    # entries at row 5; times at rows 5 and 8
    segment_anatomy = arrays.anatomy(table, *arrays.indexed(table, 400))
    assert tables.find_pinned_row(segment_anatomy, 5) == PinnedRow(5, 0, 0)
    assert tables.find_pinned_row(segment_anatomy, 7) == PinnedRow(7, 0, 0)
    assert tables.find_pinned_row(segment_anatomy, 2) == PinnedRow(2, NONE, NONE)
    assert tables.find_pinned_row(segment_anatomy, 8, time_slot=1) == PinnedRow(8, 0, 1)
    assert tables.find_pinned_row(segment_anatomy, 5, slot=0) == PinnedRow(5, 0, 0)
    assert tables.find_pinned_row(segment_anatomy, 5, time_slot=0) == PinnedRow(5, 0, 0)
    alone = arrays.anatomy(table, None, arrays.indexed(table, 400)[1])
    assert tables.find_pinned_row(alone, 8) == PinnedRow(8, NONE, 1)


def test_tables_of_an_entry_that_leads_astray(damaged):
    segment_anatomy = anatomy.read(open_broker(damaged).partition("bookings-0").segment(858))
    pin = tables.find_pinned_row(segment_anatomy, int(segment_anatomy.links.entry_batch[3]), slot=3)
    row = next(row for row in tables.index_rows(segment_anatomy, pin) if row.is_pinned)
    assert (row.slot, row.fault) == ("3", "after the batch of this offset")
    assert row.batch == "1\u202f017–1\u202f025"
    assert plain(tables.index_rows(segment_anatomy, pin)[4]).gap == "−4 995 B"


def test_faults_of_the_other_kinds():
    """Entries that point at no batch, times that no batch has."""
    table = arrays.batches([100] * 9)
    entries = arrays.offset_entries([(1, 101), (2, 5000), (9, 200), (4, 400), (3, 300)])
    segment_anatomy = arrays.anatomy(table, entries, arrays.time_entries([(7, 3), (8, 99)]))
    rows = tables.index_rows(segment_anatomy, PinnedRow(0, NONE, NONE))
    assert [row.fault for row in rows] == [
        "in the middle of a batch",
        "beyond the last batch",
        "no batch holds this offset",
        "",
        "key not above the one before",
    ]
    assert [row.batch for row in rows[:3]] == [*["no batch starts there"] * 2, "2–2"]
    assert [
        row.fault for row in tables.time_rows(segment_anatomy, PinnedRow(0, NONE, NONE), "")
    ] == ["its batch holds a different time"] * 2


def test_cells_that_have_no_value():
    """Wrappers of magic 0 have no count, time or leader epoch; an unknown codec keeps its number."""
    table = arrays.wrapped(arrays.batches([100, 100]), [0, 1])
    table["leader_epoch"] = -1
    table["attributes"][1] = 6
    first, second = tables.batch_rows(arrays.anatomy(table, None, None), PinnedRow(0, NONE, NONE))
    assert (first.offsets, first.records, first.newest, first.epoch) == ("up to 0", "–", "–", None)
    assert first.codec == "gzip"
    assert second.codec == "codec 6"
    # of a log whose messages were converted: then there is a column, and a dash in it
    table["leader_epoch"][1] = 3
    assert [
        row.epoch
        for row in tables.batch_rows(arrays.anatomy(table, None, None), PinnedRow(0, NONE, NONE))
    ] == ["–", "3"]


def test_a_time_entry_alone():
    table = arrays.batches([100] * 9)
    segment_anatomy = arrays.anatomy(table, *arrays.indexed(table, 400))
    rows = tables.time_rows(segment_anatomy, PinnedRow(8, 0, 1), "roll")
    assert [row.index_slot for row in rows] == ["slot 0", "none: written at the roll"]
    assert tables.time_rows(segment_anatomy, PinnedRow(8, 0, 1), "")[1].index_slot == "none"
    assert (rows[0].later_by, rows[1].later_by) == ("–", "3 ms")


def read_back(segment_anatomy, table: str) -> list[dict[str, str]]:
    text = arrow_csv(tables.all_rows(segment_anatomy, table)).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_of_batches(payments):
    """Every batch in plain numbers, its entry and the one that finds it."""
    rows = read_back(payments, "batches")
    assert len(rows) == 906
    assert [int(row["position"]) for row in rows] == payments.batches.all_rows()[
        "position"
    ].tolist()
    chosen = next(row for row in rows if row["base_offset"] == "11612")
    assert (chosen["entry_slot"], chosen["found_from_slot"]) == ("95", "94")
    assert (chosen["codec"], chosen["crc"]) == ("none", str(0xF602385D))
    assert rows[0]["entry_slot"] == rows[0]["found_from_slot"] == ""


def test_csv_agrees_with_the_catalog():
    """Also on messages of magic 0 and 1, and on an unknown codec."""
    table = arrays.wrapped(arrays.batches([100] * 4), [1])
    table["magic"][2] = 1
    for name in ("leader_epoch", "producer_id", "producer_epoch", "base_sequence"):
        table[name][1:3] = -1
    table["attributes"][3] = 6
    rows = read_back(arrays.anatomy(table, None, None), "batches")
    columns = batch_columns(table, np.full(len(table), NONE))
    common = [name for name in rows[0] if name in columns]
    assert len(common) == 15
    for name in common:
        texts = ["" if value is None else str(value) for value in columns[name].tolist()]
        assert [row[name] for row in rows] == texts, name


def test_csv_of_the_indexes(payments):
    rows = read_back(payments, "index")
    offset = {"slot": "95", "relative_offset": "3650", "offset": "11625"}
    place = {"position": "479997", "gap_bytes": "4371", "time_slot": "95"}
    assert rows[95] == offset | place
    time = {"timestamp_ms": "1795253384123", "entry_slot": "95"}
    assert read_back(payments, "timeindex")[95] == offset | time


def test_csv_leaves_out_what_a_wrapper_does_not_tell():
    segment_anatomy = arrays.anatomy(arrays.wrapped(arrays.batches([100, 100]), [1]), None, None)
    rows = read_back(segment_anatomy, "batches")
    assert (rows[0]["base_offset"], rows[0]["record_count"]) == ("0", "1")
    assert (rows[1]["base_offset"], rows[1]["record_count"]) == ("", "")
    assert read_back(segment_anatomy, "index") == read_back(segment_anatomy, "timeindex") == []


def test_batches_around_a_wrong_entry(damaged):
    """Slot 3 of this index leads to the batch of offset 1017 instead of that of 947."""
    segment_anatomy = anatomy.read(open_broker(damaged).partition("bookings-0").segment(858))
    pin = tables.find_pinned_row(segment_anatomy, int(segment_anatomy.links.entry_batch[3]), 3)
    home = tables.find_pinned_row(segment_anatomy, int(segment_anatomy.links.entry_home[3]))
    rows = [row for place in (pin, home) for row in tables.batch_rows(segment_anatomy, place)]
    faults = {plain(row).offsets: row.fault for row in rows if row.fault}
    assert faults == {"1 017–1 025": "slot 3 leads here", "947–949": "slot 3 belongs here"}

"""The broker's table: from the listing, from index files and from a catalog."""

import os
from pathlib import Path

import pytest

from kafkaviz.analysis import overview
from kafkaviz.analysis.overview import UNKNOWN
from kafkaviz.log.broker import Problem, open_broker
from kafkaviz.messages import message, verbatim
from tests.support.segment_files import columns, make_segment


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """orders-0 has a closed segment of 1000 bytes and an active one of 500; logs-0 has a deleted
    and an active, empty one.
    """
    make_segment(tmp_path / "orders-0", 0, 1000, [400, 800], times=1)
    make_segment(tmp_path / "orders-0", 30, 500, [250], times=1)
    make_segment(tmp_path / "logs-0", 0, 200, [100], suffix=".deleted")
    make_segment(tmp_path / "logs-0", 9, 0, [])
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\n")
    return tmp_path


def entries_of(directory: Path) -> overview.BrokerOverview:
    return overview.with_entries(overview.inventory(open_broker(directory)))


def catalog_of(directory: Path, **counted: list) -> overview.BrokerOverview:
    """Returns the table with these columns of a catalog, one value per segment."""
    broker = open_broker(directory)
    return overview.with_batches(overview.inventory(broker), columns(broker, **counted))


def test_the_listing_knows_sizes_and_states(small):
    """Before a file is opened, whatever needs reading is unknown, not zero."""
    known = overview.inventory(open_broker(small))
    assert [row.directory for row in known.partitions] == ["logs-0", "orders-0"]
    total = known.total
    assert (total.segments, total.log_bytes) == (4, 1700)
    assert [known.count_kind(kind) for kind in overview.KINDS] == [1, 2, 1, 0, 0]
    assert total.offset_entries is total.index_bytes is total.batches is None
    assert total.bytes_per_entry is known.partitions[1].last_offset is None


def test_index_files_add_entries_and_where_they_are(small):
    """Counts, bytes per entry, and positions that continue from segment to segment."""
    known = entries_of(small)
    orders = known.partitions[1].sums
    assert (orders.offset_entries, orders.time_entries) == (3, 2)
    assert (orders.index_bytes, orders.bytes_per_entry) == (3 * 8 + 2 * 12, 500)
    assert known.entries.partition.tolist() == [0, 1, 1, 1]
    assert known.entries.position.tolist() == [100, 400, 800, 1250]
    assert known.problems == ()


def test_no_entry_covers_no_bytes(tmp_path):
    make_segment(tmp_path / "empty-0", 0, 10, [])
    known = entries_of(tmp_path / "empty-0")
    assert known.total.offset_entries == 0 and known.total.bytes_per_entry is None


def test_an_entry_beyond_its_log_is_counted_but_not_placed(tmp_path):
    """A damaged index may point anywhere: its mark must not appear under another segment."""
    make_segment(tmp_path / "orders-0", 0, 100, [50, 7000])
    make_segment(tmp_path / "orders-0", 30, 100, [60])
    known = entries_of(tmp_path / "orders-0")
    assert known.total.offset_entries == 3
    assert known.entries.position.tolist() == [50, 160]


def test_what_cannot_be_read_is_left_out_and_reported(small):
    """Without the index file that vanished, the totals leave its segment out and name the file."""
    inventory = overview.inventory(open_broker(small))
    deleted_index = small / "orders-0" / f"{0:020d}.index"
    deleted_index.unlink()
    known = overview.with_entries(inventory)
    assert [problem.path for problem in known.problems] == [deleted_index]
    assert known.segments["left_out"].tolist() == [False, False, True, False]
    assert known.total.offset_entries == 2 and known.total.log_bytes == 1700
    orders = known.partitions[1].sums
    assert orders.bytes_per_entry == orders.covered_bytes == 500
    assert known.entries.position.tolist() == [100, 1250]


def test_a_catalog_adds_what_reading_tells(small):
    """Batches, records, torn ends, the last offset, the newest record and the codecs, by segment."""
    known = catalog_of(
        small,
        batches=[1, 0, 5, 2],
        records=[9, 0, 30, 7],
        torn_bytes=[0, 0, 0, 12],
        last_offset=[8, None, 29, 36],
        max_timestamp_ms=[5, None, 7, 6],
        codecs=[(), (), ("none", "lz4"), ("lz4",)],
    )
    orders = known.partitions[1]
    sums = orders.sums
    assert (sums.batches, sums.records, sums.torn_bytes, sums.newest_ms) == (7, 37, 12, 7)
    assert orders.last_offset == 36 and orders.codecs == ("lz4", "none")
    assert known.partitions[0].codecs == ()
    assert known.total.batches == 8


def test_a_file_that_changed_since_is_unknown_again(small):
    """A catalog's row counts only for the bytes that it was read from."""
    broker = open_broker(small)
    read = columns(broker, batches=[1, 0, 5, 2])
    log = small / "orders-0" / f"{30:020d}.log"
    with open(log, "ab") as file:
        file.write(b"more")
    known = overview.with_batches(overview.inventory(open_broker(small)), read)
    assert known.segments["batches"].tolist() == [1, 0, 5, UNKNOWN]
    assert known.total.batches is None and known.partitions[0].sums.batches == 1


def test_a_segment_with_a_problem_is_left_out(small):
    """The pipeline names the file it could not read; read twice it is one problem."""
    broker = open_broker(small)
    inventory = overview.inventory(broker)
    deleted_index = small / "orders-0" / f"{0:020d}.index"
    deleted_index.unlink()
    problems = (Problem(deleted_index, message("errors.not_there")),)
    counted = {"batches": [1, 0, 5, 2], "problems": [(), (), problems, ()]}
    read = columns(broker, **counted, offset_entries=[0, 0, None, 0])
    known = overview.with_batches(inventory, read)
    assert known.segments["left_out"].tolist() == [False, False, True, False]
    assert known.total.batches == 3 and known.problems == problems
    both = overview.with_batches(overview.with_entries(inventory), columns(broker, **counted))
    assert both.problems == problems and int(both.segments["left_out"].sum()) == 1


def test_a_log_read_to_its_middle_is_left_out(small):
    """Its numbers are too small, and the problem says so."""
    problem = Problem(small / "orders-0" / f"{0:020d}.log", verbatim("input/output error"))
    known = catalog_of(small, batches=[1, 0, 5, 2], problems=[(), (), (problem,), ()])
    assert known.total.batches == 3 and known.partitions[1].sums.covered_bytes == 500


@pytest.mark.parametrize(
    ("kind", "nothing"),
    [
        ("log", "batches"),
        ("log", "records"),
        ("index", "offset_entries"),
        ("timeindex", "time_entries"),
    ],
)
def test_a_missing_file_is_no_problem(small, kind, nothing):
    (small / "orders-0" / f"{0:020d}.{kind}").unlink()
    known = catalog_of(small, **{nothing: [1, 0, None, 2]})
    assert not known.segments["left_out"].any() and known.problems == ()
    assert getattr(known.total, nothing) == 3


def test_a_hidden_number_of_records_is_unknown(small):
    """A compressed batch of an old format hides its count, so the catalog has a null."""
    known = catalog_of(small, batches=[1, 0, 5, 2], records=[1, 0, None, 2])
    assert (known.total.batches, known.total.records) == (8, None)
    assert not known.segments["left_out"].any()


def test_of_nothing_read_nothing_is_known(small):
    """If every segment is left out, the number of batches is unknown, not 0."""
    problems = [
        (Problem(small / "logs-0" / f"{base:020d}.log", message("errors.may_not_be_read")),)
        for base in (0, 9)
    ]
    known = catalog_of(small, batches=[None, None, 5, 2], problems=[*problems, (), ()])
    assert known.partitions[0].sums.batches is None and known.total.batches == 7
    assert known.problems == (*problems[0], *problems[1])


def test_a_directory_to_be_deleted_counts_as_deleted(tmp_path):
    make_segment(tmp_path / "old-0.d9e2420e43c24fe7bcf8a819bf93d888-delete", 0, 10, [])
    make_segment(tmp_path / "new-0", 0, 10, [])
    known = overview.inventory(open_broker(tmp_path))
    assert known.count_kind("deleted") == 1 and known.count_kind("active") == 1
    assert [row.label for row in known.partitions] == ["new-0", "old-0"]


def test_a_topic_made_again_has_codecs_of_its_own(tmp_path):
    directory = "orders-0.d9e2420e43c24fe7bcf8a819bf93d888-delete"
    for folder in ("orders-0", directory):
        make_segment(tmp_path / folder, 0, 10, [])
    known = catalog_of(tmp_path, codecs=[("zstd",), ("gzip",)])
    assert [(row.directory, row.codecs) for row in known.partitions] == [
        ("orders-0", ("zstd",)),
        (directory, ("gzip",)),
    ]


@pytest.mark.parametrize(("limit", "value"), [("READ_FILES", 5), ("READ_BYTES", 10)])
def test_large_indexes_are_left_to_the_pipeline(small, monkeypatch, limit, value):
    """More files, or more bytes, than are read at once."""
    broker = open_broker(small)
    assert overview.is_readable(broker)
    monkeypatch.setattr(overview, limit, value)
    assert not overview.is_readable(broker)


def test_holes_do_not_count_as_index(tmp_path):
    """A preallocated index of 128 MiB takes no time to read, because it is a hole."""
    make_segment(tmp_path / "orders-0", 0, 10, [5])
    os.truncate(tmp_path / "orders-0" / f"{0:020d}.index", 128 << 20)
    broker = open_broker(tmp_path / "orders-0")
    assert overview.is_readable(broker)
    assert entries_of(tmp_path / "orders-0").total.offset_entries == 1


def test_the_largest_segment_has_the_longest_log(tmp_path):
    make_segment(tmp_path / "orders-0", 0, 900, [100], times=1)
    make_segment(tmp_path / "orders-0", 50, 500, [100], times=1)
    known = entries_of(tmp_path)
    assert overview.largest_segment(known) == ("orders-0", 0)


def test_nothing_tells_where_there_is_nothing(tmp_path):
    (tmp_path / "meta.properties").write_text("version=1\n")
    known = entries_of(tmp_path)
    assert overview.largest_segment(known) is None
    assert known.total.segments == 0 and known.total.log_bytes == 0 and known.partitions == ()


def test_a_real_broker_adds_up(clean):
    """37 topic-partitions of 4.3.1, counted by the sizes of their trimmed index files."""
    known = entries_of(clean)
    trimmed = [path for path in clean.glob("*/*.index*") if "-delete" not in path.parent.name]
    untrimmed = next(row for row in known.partitions if row.state == "delete")
    assert len(known.partitions) == 37 and known.total.segments == 94
    logs = [*clean.glob("*/*.log"), *clean.glob("*/*.log.deleted")]
    assert known.total.log_bytes == sum(path.stat().st_size for path in logs)
    entries = known.total.offset_entries - untrimmed.sums.offset_entries
    assert entries == sum(path.stat().st_size for path in trimmed) // 8
    assert (known.total.offset_entries, known.total.time_entries) == (5442, 4513)

"""The current files, compared with a catalog: names of brokers, stamps of files."""

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.pipeline.catalog.catalog import Catalog
from kafkaviz.pipeline.catalog.catalog_info import to_row
from kafkaviz.pipeline.catalog.schema import SEGMENTS, TABLES
from kafkaviz.pipeline.ingest import stored_rows
from kafkaviz.pipeline.ingest.commit import catalog_transaction
from kafkaviz.pipeline.ingest.stored_rows import StoredRows
from kafkaviz.pipeline.ingest.work import find_work
from kafkaviz.pipeline.read import inventory as inventory_module
from kafkaviz.pipeline.read.inventory import Inventory, inventory
from tests.pipeline.small_logs import write_broker


def make_broker(path: Path) -> Broker:
    return open_broker(write_broker(path, {"a-0": [[100] * 3]}))


@pytest.fixture
def as_read(tmp_path) -> Callable[[Inventory], Catalog]:
    def write(inventory_: Inventory) -> Catalog:
        out = tmp_path / f"catalog-{uuid.uuid4().hex}"
        with catalog_transaction(out) as transaction:
            transaction.make_staging()
            with transaction.writer("stamps") as stamps, transaction.writer("segments") as segments:
                for entries in inventory_.entries:
                    members = [segment.stored for segment in entries.segments]
                    stamps.add(map(to_row, (entries.stored, *members)))
                    segments.add([dict.fromkeys(SEGMENTS.names)] * len(members))
            with transaction.writer("checked") as checked:
                checked.add_table(TABLES["checked"].empty_table())
            return Catalog(out, transaction.commit(inventory_.sources))

    return write


def reusable(inventory_: Inventory, old: Catalog) -> list[int | None]:
    """Returns, per segment, the base offset of the old one whose rows may be kept."""
    stored = StoredRows(old, inventory_)
    return [
        segment and segment.base_offset
        for entries in inventory_.entries
        for segment in map(
            stored.partition(entries.broker, entries.partition.directory).find, entries.segments
        )
    ]


def names(inventory_: Inventory) -> list[str]:
    return [source.broker for source in inventory_.sources]


def test_a_folder_gives_the_name(tmp_path):
    assert names(inventory([make_broker(tmp_path / "one"), make_broker(tmp_path / "two")])) == [
        "one",
        "two",
    ]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["b1/data", "b2/data"], ["b1/data", "b2/data"]),
        (["x/b1/data", "y/b1/data", "y/b2/data"], ["x/b1/data", "y/b1/data", "y/b2/data"]),
        (["data", "data/deep/data"], None),
    ],
)
def test_equal_folders_are_distinguished_by_those_above(tmp_path, paths, expected):
    paths_ = names(inventory([make_broker(tmp_path / path) for path in paths]))
    assert paths_ == (expected or [f"{tmp_path.name}/data", "deep/data"])


def test_the_order_in_which_directories_are_given_does_not_matter(tmp_path, as_read):
    first, two = make_broker(tmp_path / "one"), make_broker(tmp_path / "two")
    assert inventory([first, two]) == inventory([two, first])
    assert inventory([two, first, first]).matches(as_read(inventory([first, two])))


def test_another_set_of_directories_is_not_in_the_catalog(tmp_path, as_read):
    first, two = make_broker(tmp_path / "one"), make_broker(tmp_path / "two")
    assert not inventory([first]).matches(as_read(inventory([first, two])))
    assert not inventory([first, two]).matches(as_read(inventory([first])))
    assert reusable(inventory([first, two]), as_read(inventory([two]))) == [None, 0]


def test_a_renamed_broker_is_read_again(tmp_path, as_read):
    first = make_broker(tmp_path / "b1" / "data")
    before = as_read(inventory([first]))
    both = inventory([first, make_broker(tmp_path / "b2" / "data")])
    assert names(both) == ["b1/data", "b2/data"] and reusable(both, before) == [None, None]


def test_another_version_reads_everything(tmp_path, monkeypatch, as_read):
    stock = inventory([make_broker(tmp_path / "one")])
    before = as_read(stock)
    assert stock.matches(before) and reusable(stock, before) == [0]
    monkeypatch.setattr(inventory_module, "version", lambda: "99")
    monkeypatch.setattr(stored_rows, "version", lambda: "99")
    assert not stock.matches(before) and reusable(stock, before) == [None]


def test_a_catalog_of_an_older_format_gets_the_new_columns(tmp_path, monkeypatch, as_read):
    stock = inventory([make_broker(tmp_path / "one")])
    before = as_read(stock)
    monkeypatch.setattr(inventory_module, "FORMAT", before.info.format + 1)
    assert not stock.matches(before) and reusable(stock, before) == [0]


def test_all_is_read_without_a_catalog(tmp_path):
    work = find_work(inventory([make_broker(tmp_path / "one")]), None, None)
    assert [task.number for task in work] == [0] and work.has_new_rows(0)


@pytest.mark.parametrize("field", ["size_bytes", "mtime_ns"])
def test_size_and_time_show_that_a_file_has_changed(tmp_path, field, as_read):
    broker = make_broker(tmp_path / "one")
    before = as_read(inventory([broker]))
    (partition,) = broker.partitions
    (segment,) = partition.segments
    changed = replace(
        segment, index=replace(segment.index, **{field: getattr(segment.index, field) + 1})
    )
    stock = inventory([replace(broker, partitions=(replace(partition, segments=(changed,)),))])
    assert not stock.matches(before) and reusable(stock, before) == [None]


def test_a_topic_may_be_called_as_a_suffix(tmp_path, as_read):
    """a.txnindex-0 is a topic-partition, and a change in it is read."""
    broker = open_broker(write_broker(tmp_path / "one", {"a.txnindex-0": [[100] * 3]}))
    before = as_read(inventory([broker]))
    with open(tmp_path / "one" / "a.txnindex-0" / f"{0:020d}.log", "ab") as log:
        log.write(b"more")
    assert reusable(inventory([open_broker(tmp_path / "one")]), before) == [None]

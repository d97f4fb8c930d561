import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkaviz.analysis.inferred_release import AssumedRelease
from kafkaviz.analysis.inferred_settings import FirstBatch
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log.broker import Problem, open_broker
from kafkaviz.messages import message, verbatim
from kafkaviz.pipeline.catalog import catalog, catalog_info
from kafkaviz.pipeline.catalog.catalog_info import (
    CatalogInfo,
    CatalogSource,
    RowRange,
    SourceCheck,
    StoredDirectory,
    StoredLogDirectory,
    StoredSegment,
    from_json,
    from_row,
    to_json,
    to_row,
)
from kafkaviz.pipeline.catalog.schema import TABLES
from kafkaviz.pipeline.read import inventory
from tests.pipeline.processes import run_python
from tests.pipeline.small_logs import write_broker
from tests.support.cases import all_cases

VERDICT = SourceCheck(AssumedRelease((4, 3, 1), (message("release.given"),)), False, True)
INFO = CatalogInfo(
    kafkaviz="0.1.0",
    sources=(
        CatalogSource(
            broker="b",
            path=Path("/data/b"),
            given=Path("/data/b.tar.gz"),
            node_id="1",
            cluster_id=None,
            directories=("t-0",),
            files={"meta.properties": (88, 17)},
            log_directories=(
                StoredLogDirectory(path=Path("/data/b"), directory_id="a", has_metadata_log=True),
                StoredLogDirectory(path=Path("/data/c"), directory_id=None, has_metadata_log=False),
            ),
            checked=VERDICT,
        ),
    ),
    tables={table: {} for table in TABLES} | {"batches": {"batches-x.parquet": 3}},
    problems=(Problem(Path("/data/b/t-0"), verbatim("no")),),
    suffixes={"deleted": 1},
)
STAMPS = (
    StoredDirectory("b", "t-0", {"t-0/leader-epoch-checkpoint": (1, 2)}),
    StoredSegment(
        broker="b",
        directory="t-0",
        base_offset=7,
        suffix="deleted",
        files={"t-0/x.log": (1, 2)},
        spans={"batches": (RowRange("batches-x.parquet", 0, 3),)},
        first_batch=FirstBatch(61, -1, 9),
        codecs=("none", "zstd"),
        problems=(Problem(Path("/data/b/t-0/x.log"), verbatim("no")),),
        unreadable=True,
    ),
    StoredSegment(broker="b", directory="t-0", base_offset=8, suffix="", files={}),
    StoredDirectory("b", "caf\udce9-0", {"caf\udce9-0/x": (1, 2)}),
)


@pytest.fixture
def out(in_process, tmp_path) -> Path:
    broker = write_broker(tmp_path / "made", {"a-0": [[100] * 5, [120] * 6], "b-1": [[90] * 8]})
    in_process(broker, catalog=tmp_path / "catalog")
    return tmp_path / "catalog"


def test_a_description_survives_its_json():
    assert from_json(json.loads(json.dumps(to_json(INFO)))) == INFO


@pytest.mark.parametrize("stamp", STAMPS, ids=["directory", "segment", "bare", "no text"])
def test_a_stamp_survives_its_row(stamp):
    rows = pa.Table.from_pylist([to_row(stamp)], TABLES["stamps"]).to_pylist()
    assert [from_row(row, INFO) for row in rows] == [stamp]


def test_rows_are_counted_by_table():
    """The sum over a table's files; a table without a file has none."""
    assert INFO.rows == {**dict.fromkeys(TABLES, 0), "batches": 3}


def test_a_table_has_its_declared_columns(out):
    read = catalog.read(out)
    assert {name: read.table(name).schema for name in TABLES} == dict(TABLES)


def test_columns_and_rows_are_chosen(out):
    """A filter may use a column that is not requested."""
    table = catalog.read(out).table(
        "batches", columns=["position", "topic"], filters=[("partition", "==", 1)]
    )
    assert table.column_names == ["position", "topic"]
    assert table.to_pylist() == [{"position": 90 * number, "topic": "b"} for number in range(8)]


def test_a_table_without_rows_has_its_columns_still(in_process, tmp_path):
    in_process(write_broker(tmp_path / "made", {}), catalog=tmp_path / "catalog")
    read = catalog.read(tmp_path / "catalog")
    assert {name: read.table(name).schema for name in TABLES} == dict(TABLES)
    assert read.table("batches", columns=["crc"]).column_names == ["crc"]


def test_an_unknown_table_is_named(out):
    with pytest.raises(KafkavizError, match="no table rows; it has partitions, segments, batches"):
        catalog.read(out).table("rows")


def test_a_catalog_replaced_meanwhile_is_read_again(out, in_process, tmp_path):
    read = catalog.read(out)
    in_process(tmp_path / "made", catalog=out, full=True)
    assert read.table("batches").num_rows == 19
    assert read.info == catalog.read(out).info


def test_a_file_that_is_missing_is_reported(out):
    next((out / "batches").iterdir()).unlink()
    with pytest.raises(
        CannotOpen, match="names files that do not exist; run kafkaviz ingest --full"
    ):
        catalog.read(out).table("batches")


def test_no_catalog_is_reported(tmp_path):
    with pytest.raises(CannotOpen, match="is not a catalog; make one: kafkaviz ingest") as raised:
        catalog.read(tmp_path)
    assert raised.value.kind == "missing"


NONE = (
    "",
    "{",
    "[]",
    "{}",
    f'{{"format": {catalog_info.FORMAT}}}',
    "[" * 100_000,
    "\xff",
    "9" * 10_000,
)


@pytest.mark.parametrize("text", [*NONE, f'{{"format": {catalog_info.FORMAT}, "sources": 3}}'])
def test_a_broken_description_is_one_line(tmp_path, text):
    (tmp_path / "_catalog.json").write_text(text, "latin-1")
    with pytest.raises(CannotOpen, match="is not a catalog's description"):
        catalog.read(tmp_path)


def parts_of(node: object, way: tuple = ()) -> list[tuple]:
    inside = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    return [way, *(part for key, value in inside for part in parts_of(value, (*way, key)))]


def changed(document: dict, way: tuple, value: object) -> dict:
    document = json.loads(json.dumps(document))
    inside = document
    for key in way[:-1]:
        inside = inside[key]
    inside[way[-1]] = value
    return document


@pytest.mark.parametrize("value", [5, None, {}, [], "x", [[]], 1e9], ids=repr)
@all_cases("way", parts_of(to_json(INFO))[1:])
def test_no_wrong_value_is_a_traceback(tmp_path, way, value):
    """Either CannotOpen, or a description that can be compared and printed."""
    tmp_path.joinpath("_catalog.json").write_text(json.dumps(changed(to_json(INFO), way, value)))
    try:
        stored = catalog.read(tmp_path)
    except CannotOpen:
        return
    assert sum(stored.info.rows.values()) >= 0 and not inventory.is_fresh(stored, [])
    assert from_json(to_json(stored.info)) == stored.info


@pytest.mark.parametrize(
    "way", [("tables",), ("tables", "batches", "files"), ("suffixes", "deleted"), ("sources",)]
)
@pytest.mark.parametrize("value", ["5", None, {"x": 1}, [1]], ids=repr)
def test_a_wrong_shape_is_reported(tmp_path, way, value):
    (tmp_path / "_catalog.json").write_text(json.dumps(changed(to_json(INFO), way, value)))
    with pytest.raises(CannotOpen, match="is not a catalog's description"):
        catalog.read(tmp_path)


@pytest.mark.parametrize(
    "file",
    ["../batches-x.parquet", "/batches-x.parquet", "batches-\0.parquet", "time_entries-x.parquet"],
)
def test_a_file_elsewhere_is_not_in_the_table(file):
    """Files are named relative to their table's folder."""
    text = to_json(INFO)
    text["tables"]["batches"]["files"] = {file: 3}
    with pytest.raises(ValueError, match="no name of this table"):
        from_json(text)


def test_a_description_that_cannot_be_opened_is_reported(tmp_path):
    (tmp_path / "_catalog.json").mkdir()
    with pytest.raises(CannotOpen, match=r"_catalog\.json: is a directory"):
        catalog.read(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(CannotOpen, match="not a directory"):
        catalog.read(tmp_path / "file")


DOCUMENT = json.loads(to_row(STAMPS[1])["json"])


@pytest.mark.parametrize("value", [5, None, {}, [], "x", [[]], 1e9], ids=repr)
@all_cases("way", parts_of(DOCUMENT))
def test_no_wrong_stamp_is_a_traceback(way, value):
    document = changed(DOCUMENT, way, value) if way else value
    try:
        stamp = from_row(to_row(STAMPS[1]) | {"json": json.dumps(document)}, INFO)
    except ValueError:
        return
    assert from_row(to_row(stamp), INFO) == stamp


@pytest.mark.parametrize("text", NONE)
def test_a_broken_stamp_is_one_line(out, text):
    (path,) = (out / "stamps").iterdir()
    rows = pq.read_table(path).to_pylist()
    rows[-1]["json"] = text
    pq.write_table(pa.Table.from_pylist(rows, TABLES["stamps"]), path)
    read = catalog.read(out)
    with pytest.raises(CannotOpen, match=r"stamps: cannot be read .*; run kafkaviz ingest --full"):
        list(read.stamps())
    assert ("stamps", catalog.NAME) in catalog.missing_files(out, read.info)
    assert not inventory.is_fresh(read, [open_broker(out.parent / "made")])


@pytest.mark.parametrize("left", [0, 3, 1000, -1])
@pytest.mark.parametrize("table", ["segments", "stamps", "batches"])
def test_a_cut_file_is_reported(out, table, left):
    (path,) = (out / table).iterdir()
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(
        CannotOpen, match=rf"{table}: cannot be read .*; run kafkaviz ingest --full"
    ):
        catalog.read(out).table(table)
    assert catalog.missing_files(out, catalog.read_info(out)) == {(table, path.name)}


def test_rows_of_other_segments_are_reported(out):
    (path,) = (out / "stamps").iterdir()
    rows = pq.read_table(path).to_pylist()
    rows[-1]["base_offset"] = None
    pq.write_table(pa.Table.from_pylist(rows, TABLES["stamps"]), path)
    read = catalog.read(out)
    with pytest.raises(CannotOpen, match="has 3 rows for 2 segments"):
        read.segments(["base_offset"])
    assert catalog.missing_files(out, read.info)


def test_another_format_is_reported(tmp_path):
    (tmp_path / "_catalog.json").write_text('{"format": 99}')
    with pytest.raises(CannotOpen, match=f"of format 99, not {catalog_info.FORMAT}"):
        catalog.read(tmp_path)


def test_reading_needs_no_spark():
    """A page that shows a catalog starts without pyspark."""
    script = (
        "import sys; from kafkaviz.pipeline.catalog import catalog; "
        "from kafkaviz.pipeline.ingest import job; print('pyspark' in sys.modules)"
    )
    assert run_python(script) == "False\n"

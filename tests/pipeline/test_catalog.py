"""Reading a catalog: its tables, its description, and what is said where there is none."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.pipeline import catalog
from kafkaviz.pipeline.catalog import CatalogInfo, Problem, Source, Span, StoredSegment, from_json, to_json
from kafkaviz.pipeline.schema import TABLES
from tests.pipeline.made import write_broker

INFO = CatalogInfo(
    "0.1.0",
    (Source("b", Path("/data/b"), Path("/data/b.tar.gz"), "1", None, ("t-0",), {"meta.properties": (88, 17)}),),
    {table: {} for table in TABLES} | {"batches": {"batches-x.parquet": 3}},
    (
        StoredSegment(
            "b", "t-0", 7, "deleted", {"t-0/x.log": (1, 2)}, {"batches": (Span("batches-x.parquet", 0, 3),)}, (61, -1, 9), "no", True
        ),
        StoredSegment("b", "t-0", 8, "", {}),
    ),
    (Problem("b/t-0", "no"),),
)


@pytest.fixture
def out(in_process, tmp_path) -> Path:
    """The catalog of a small broker directory."""
    broker = write_broker(tmp_path / "made", {"a-0": [[100] * 5, [120] * 6], "b-1": [[90] * 8]})
    in_process(broker, catalog=tmp_path / "catalog")
    return tmp_path / "catalog"


def test_a_description_survives_its_json():
    """Every field, through text and back."""
    assert from_json(json.loads(json.dumps(to_json(INFO)))) == INFO


def test_rows_are_counted_by_table():
    """The sum over a table's files; a table without a file has none."""
    assert INFO.rows == {**dict.fromkeys(TABLES, 0), "batches": 3}


def test_a_table_has_its_declared_columns(out):
    """Whatever files it was put together from."""
    read = catalog.read(out)
    assert {name: read.table(name).schema for name in TABLES} == dict(TABLES)


def test_columns_and_rows_are_chosen(out):
    """As pyarrow does it; a filter may use a column that is not asked for."""
    found = catalog.read(out).table("batches", columns=["position", "topic"], filters=[("partition", "==", 1)])
    assert found.column_names == ["position", "topic"]
    assert found.to_pylist() == [{"position": 90 * number, "topic": "b"} for number in range(8)]


def test_a_table_without_rows_has_its_columns_still(in_process, tmp_path):
    """A broker directory without a segment."""
    in_process(write_broker(tmp_path / "made", {}), catalog=tmp_path / "catalog")
    read = catalog.read(tmp_path / "catalog")
    assert {name: read.table(name).schema for name in TABLES} == dict(TABLES)
    assert read.table("batches", columns=["crc"]).column_names == ["crc"]


def test_an_unknown_table_is_named(out):
    """With those that there are."""
    with pytest.raises(KafkavizError, match="no table rows; it has partitions, segments, batches"):
        catalog.read(out).table("rows")


def test_a_catalog_replaced_meanwhile_is_read_anew(out, in_process, tmp_path):
    """The files that its reader knew are gone."""
    read = catalog.read(out)
    in_process(tmp_path / "made", catalog=out, full=True)
    assert read.table("batches").num_rows == 19
    assert read.info == catalog.read(out).info


def test_a_file_that_is_missing_is_said(out):
    """Somebody has deleted it; reading anew does not bring it back."""
    next((out / "batches").iterdir()).unlink()
    with pytest.raises(CannotOpen, match="lacks files that it names; run kafkaviz ingest --full"):
        catalog.read(out).table("batches")


def test_no_catalog_is_said(tmp_path):
    """With how to make one."""
    with pytest.raises(CannotOpen, match="is no catalog; make one: kafkaviz ingest") as raised:
        catalog.read(tmp_path)
    assert raised.value.kind == "missing"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1}', '{"format": 1, "kafkaviz": "x", "sources": 3, "tables": {}}'])
def test_a_broken_description_is_one_line(tmp_path, text):
    """Not a traceback out of somebody's JSON."""
    (tmp_path / "_catalog.json").write_text(text)
    with pytest.raises(CannotOpen, match="is not a catalog's description"):
        catalog.read(tmp_path)


def test_another_format_is_said(tmp_path):
    """Of a later version, say."""
    (tmp_path / "_catalog.json").write_text('{"format": 99}')
    with pytest.raises(CannotOpen, match="of format 99, not 1"):
        catalog.read(tmp_path)


def test_reading_needs_no_spark():
    """A page that shows a catalog starts without pyspark."""
    script = "import sys; from kafkaviz.pipeline import catalog, job; print('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "False\n"

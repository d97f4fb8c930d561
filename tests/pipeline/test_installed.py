"""The formats are found by Spark itself, in modules of the prefix that it looks for."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaviz.pipeline.datasource.installed import InstalledSource
from kafkaviz.pipeline.datasource.source import SOURCES, StreamRefusal
from kafkaviz.pipeline.datasource.source_schema import BadOption
from tests.pipeline.source_reading import read

ROOT = Path(__file__).parents[2]
MODULES = sorted(path.stem for path in ROOT.glob("pyspark_*.py"))


def test_every_format_has_a_module():
    """Each has the name of its format; tests/test_wheel.py holds the wheel to having them."""
    names = {importlib.import_module(module).DefaultSource.name(): module for module in MODULES}
    assert names == {source.name(): f"pyspark_{source.name()}" for source in SOURCES}


def test_a_module_imports_nothing_until_it_is_read():
    """Spark imports them in sessions that read something else."""
    code = f"import sys, {', '.join(MODULES)}; print(*{{'numpy', 'pyarrow', 'numba'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout.strip()) == (0, "")


def test_it_reads_as_the_registered_format_does(clean):
    """Its columns, a reader, and no stream."""
    options = {"path": str(clean), "topics": "nulls", "columns": "offset"}
    for source in SOURCES:
        if source.name() != "kafka_records":
            continue
        module = importlib.import_module(f"pyspark_{source.name()}")
        found = module.DefaultSource(options)
        assert isinstance(found, InstalledSource) and found.schema() == source(options).schema()
        reader = found.reader(found.schema())
        rows = [row for task in reader.partitions() for batch in reader.read(task) for row in batch]
        assert rows
        stream = found.streamReader(found.schema())
        assert isinstance(stream, StreamRefusal)
        with pytest.raises(BadOption, match=r"kafka_records is for batch queries: spark\.read"):
            stream.initialOffset()


@pytest.mark.slow
def test_spark_finds_the_formats_by_itself(spark, clean):
    """A session that registers nothing: the columns and the rows."""
    options = {"assign": '{"orders":[0]}', "startingTimestamp": "1790000827426"}
    plain = spark.newSession()
    frame = plain.read.format("kafka_files").options(**options).load(str(clean))
    assert frame.agg({"offset": "min"}).first()[0] == 5000
    schema = plain.read.format("kafka_records").load(str(clean)).schema
    assert {field.name for field in schema if not field.nullable} >= {"offset", "timestamp_ms"}


def test_what_is_read_and_skipped_is_logged_where_it_is_asked_for(clean, caplog):
    """Of the plan and of each task; Spark shows the log of its workers."""
    options = {"assign": '{"orders":[0]}', "startingTimestamp": "1790000827426"}
    read("kafka_files", clean, **options)
    assert caplog.messages == []
    read("kafka_files", clean, **options, explain="true")
    plan, task = caplog.messages
    assert plan.startswith("kafka_files: 3 of 94 segments, ")
    assert task.startswith("kafka_files: task of orders-0/")

"""The formats are found by Spark itself, in modules of the prefix that it looks for."""

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kafkaviz.pipeline.datasource.installed import InstalledSource
from kafkaviz.pipeline.datasource.source import SOURCES, StreamRefusal
from kafkaviz.pipeline.datasource.source_schema import BadOption

ROOT = Path(__file__).parents[2]
MODULES = sorted(path.stem for path in ROOT.glob("pyspark_*.py"))
SCRIPT = """
import sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
directory = sys.argv[1]
options = {"assign": '{"orders":[0]}', "startingTimestamp": "1790000827426", "explain": "true"}
frame = spark.read.format("kafka_files").options(**options).load(directory)
schema = spark.read.format("kafka_records").load(directory).schema
print("first", frame.agg({"offset": "min"}).first()[0])
print("not null", [field.name for field in schema if not field.nullable])
"""


def test_every_format_has_a_module_that_is_packed():
    """A wheel has each, and each has the name of its format."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["setuptools"]["py-modules"] == MODULES
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
def test_spark_finds_the_formats_by_itself(clean):
    """A plain session whose workers have kafkaviz: the rows, columns that are never null, and lines
    of what is skipped.
    """
    environ = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environ |= {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(clean)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environ,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "first 5000" in done.stdout
    assert "'offset', 'timestamp_ms'" in done.stdout
    assert "kafka_files: 3 of 94 segments, " in done.stderr, done.stderr[-3000:]
    assert "kafka_files: task of orders-0/" in done.stderr

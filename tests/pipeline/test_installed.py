import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

from kafkaviz.pipeline.datasource.installed import InstalledSource
from kafkaviz.pipeline.datasource.source import SOURCES, FilesSource, RecordsSource, StreamRefusal
from kafkaviz.pipeline.datasource.source_schema import BadOption
from kafkaviz.pipeline.spark.session import SOURCE_MODULES
from tests.pipeline.processes import ROOT, run_python
from tests.pipeline.scan_answers import SELECTIONS
from tests.pipeline.source_reading import read

MODULES = sorted(path.stem for path in (ROOT / SOURCE_MODULES).glob("pyspark_*.py"))


def test_every_format_has_a_module():
    """Each has the name of its format; tests/test_wheel.py checks that the wheel has them."""
    names = {importlib.import_module(module).DefaultSource.name(): module for module in MODULES}
    assert names == {source.name(): f"pyspark_{source.name()}" for source in SOURCES}


def test_a_module_imports_nothing_until_it_is_read():
    """Spark imports them in sessions that read something else."""
    code = f"import sys, {', '.join(MODULES)}; print(*{{'numpy', 'pyarrow', 'numba'}} & {{*sys.modules}})"
    assert run_python(code, folder=ROOT / SOURCE_MODULES).strip() == ""


def test_it_reads_as_the_registered_format_does(clean):
    options = {"path": str(clean), "topics": "nulls", "columns": "offset"}
    found = importlib.import_module("pyspark_kafka_records").DefaultSource(options)
    assert isinstance(found, InstalledSource) and found.schema() == RecordsSource(options).schema()
    reader = found.reader(found.schema())
    assert [row for task in reader.partitions() for batch in reader.read(task) for row in batch]
    stream = found.streamReader(found.schema())
    assert isinstance(stream, StreamRefusal)
    with pytest.raises(BadOption, match=r"kafka_records is for batch queries: spark\.read"):
        stream.initialOffset()


@pytest.mark.parametrize("name", ["writer", "streamWriter"])
def test_nothing_is_written(clean, name):
    """INSERT INTO, CREATE TABLE AS and df.write are refused in one line, registered or not."""
    module = importlib.import_module("pyspark_kafka_files")
    options = {"path": str(clean), "subscribe": "nulls"}
    for source in (FilesSource(options), module.DefaultSource(options)):
        with pytest.raises(BadOption, match="kafka_files only reads"):
            getattr(source, name)(source.schema(), overwrite=False)


@pytest.mark.slow
def test_spark_finds_the_formats_by_itself(spark, clean):
    options = {"assign": '{"orders":[0]}', "startingTimestamp": "1790000827426"}
    plain = spark.newSession()
    frame = plain.read.format("kafka_files").options(**options).load(str(clean))
    assert frame.agg({"offset": "min"}).first()[0] == 5000
    schema = plain.read.format("kafka_records").load(str(clean)).schema
    assert {field.name for field in schema if not field.nullable} >= {"offset", "timestamp_ms"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["kafka_files", pytest.param("kafka_records", marks=pytest.mark.nightly)]
)
def test_spark_refuses_a_stream_in_one_line(spark, clean, name):
    source = spark.newSession().readStream.format(name)
    source = source.option(SELECTIONS.get(name, "topics"), "nulls")
    with pytest.raises(StreamingQueryException) as refusal:
        query = source.load(str(clean)).writeStream.format("noop").start()
        query.awaitTermination(60)
    line = f"BadOption: {name} is for batch queries: spark.read, not spark.readStream"
    assert [text for text in str(refusal.value).splitlines() if text.endswith(line)]


READ_WITHOUT_REGISTER = """
import sys
from pathlib import Path
import pyspark_kafka_files
from kafkaviz.pipeline.spark.session import prepare, settings
prepare("local", Path(sys.argv[2]))
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]")
for name, value in settings().items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
frame = spark.read.format("kafka_files").option("subscribe", "nulls").load(sys.argv[1])
print(pyspark_kafka_files.__file__, frame.count(), ",".join(frame.columns))
spark.stop()
"""


@pytest.mark.nightly
def test_a_wheel_gives_spark_the_formats(clean, tmp_path):
    """A built and installed wheel, in another folder, without a checkout and without register.

    pip fetches the build requirements.
    """
    source, wheels, site = (tmp_path / name for name in ("source", "wheels", "site"))
    command = ["git", "ls-files", "-z", "--", ".", ":!tests", ":!benchmarks"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", wheels, source], check=True)
    subprocess.run(
        [*pip, "install", "--no-deps", "--target", site, *wheels.glob("*.whl")], check=True
    )
    assert sorted(path.stem for path in site.glob("pyspark_*.py")) == MODULES
    environ = os.environ | {"PYTHONPATH": str(site), "SPARK_LOCAL_IP": "127.0.0.1"}
    arguments = (clean, tmp_path / "cache")
    printed = run_python(READ_WITHOUT_REGISTER, *arguments, folder=tmp_path, environ=environ)
    module, count, columns = printed.splitlines()[-1].split(" ")
    assert Path(module).parent == site
    options = {"subscribe": "nulls"}
    rows = read("kafka_files", clean, **options)
    assert int(count) == rows.num_rows and columns == ",".join(rows.column_names)


def test_what_is_read_and_skipped_is_logged_where_it_is_asked_for(clean, caplog):
    """For the plan and each task; Spark shows the log of its workers."""
    options = {"assign": '{"orders":[0]}', "startingTimestamp": "1790000827426"}
    read("kafka_files", clean, **options)
    assert caplog.messages == []
    read("kafka_files", clean, **options, explain="true")
    plan, task = caplog.messages
    assert plan.startswith("kafka_files: 3 of 94 segments, ")
    assert task.startswith("kafka_files: task of orders-0/")

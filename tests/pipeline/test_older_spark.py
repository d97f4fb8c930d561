"""The oldest Spark that the data source claims to run on gives the rows of this one."""

import os
import subprocess
import sys

import pytest

from tests.pipeline.processes import ROOT, run_python
from tests.pipeline.source_reading import read

OLDEST = "4.1.4"
CODE = """
import sys
from pathlib import Path
from kafkaviz.pipeline import register
from kafkaviz.pipeline.spark.session import session
spark = session("local[1]", Path(sys.argv[2]))
register(spark)
frame = spark.read.format("kafka_records").option("topics", "nulls").load(sys.argv[1])
print(spark.version, frame.count(), frame.agg({"offset": "sum"}).first()[0])
frame = spark.read.format("kafka_files").option("subscribe", "nulls").load(sys.argv[1])
print(frame.count(), frame.where("timestamp < '2000-01-01'").count())
spark.stop()
"""


@pytest.mark.nightly
def test_the_oldest_spark_reads_the_same(clean, tmp_path):
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    packages = tmp_path / "packages"
    subprocess.run([*pip, "--target", packages, f"pyspark=={OLDEST}"], check=True)
    environ = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    environ["PYTHONPATH"] = f"{packages}{os.pathsep}{ROOT}"
    printed = run_python(CODE, clean, tmp_path / "cache", folder=tmp_path, environ=environ)
    offsets = read("kafka_records", clean, topics="nulls")["offset"].to_pylist()
    assert printed.splitlines()[-2:] == [
        f"{OLDEST} {len(offsets)} {sum(offsets)}",
        f"{read('kafka_files', clean, subscribe='nulls').num_rows} 0",
    ]

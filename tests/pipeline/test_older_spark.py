"""The oldest Spark that the data source claims to run on gives the rows of this one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.source_reading import read

ROOT = Path(__file__).parents[2]
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
    """Records, and Spark's own columns with their times."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    packages = tmp_path / "packages"
    subprocess.run([*pip, "--target", packages, f"pyspark=={OLDEST}"], check=True)
    environment = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    done = subprocess.run(
        [sys.executable, "-c", CODE, clean, tmp_path / "cache"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    offsets = read("kafka_records", clean, topics="nulls")["offset"].to_pylist()
    assert done.stdout.splitlines()[-2:] == [
        f"{OLDEST} {len(offsets)} {sum(offsets)}",
        f"{read('kafka_files', clean, subscribe='nulls').num_rows} 0",
    ]

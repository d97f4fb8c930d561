"""Where Spark's Python workers import pyspark from."""

from pathlib import Path

import pytest

from kafkaviz.pipeline.spark.daemon import without_archives


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    """Returns the folder into which pip unpacks packages, Spark among them."""
    (tmp_path / "lib" / "pyspark" / "python" / "lib").mkdir(parents=True)
    return tmp_path / "lib"


def archives(spark_home: Path) -> list[str]:
    names = ("python/lib/pyspark.zip", "jars/spark-core_2.13-4.3.0.jar")
    return [str(spark_home / name) for name in names]


def test_of_spark_from_pip_the_archives_are_left_out(site_packages):
    home = site_packages / "pyspark"
    path = ["/checkout", *archives(home), "/lib/python311.zip", str(site_packages)]
    kept = ["/checkout", "/lib/python311.zip", str(site_packages)]
    assert without_archives(path, str(home)) == kept


def test_a_link_to_the_same_environment_is_followed(site_packages, tmp_path):
    (tmp_path / "link").symlink_to(site_packages)
    path = [*archives(site_packages / "pyspark"), str(tmp_path / "link")]
    assert without_archives(path, str(site_packages / "pyspark")) == [str(tmp_path / "link")]


def test_another_spark_keeps_its_own_pyspark(site_packages, tmp_path):
    path = [*archives(tmp_path / "spark-4"), str(site_packages)]
    assert without_archives(path, str(tmp_path / "spark-4")) == path


def test_our_workers_import_pyspark_from_disk(spark):
    """From files that are compiled once, not from an archive."""
    files = spark.sparkContext.parallelize([0], 1).map(lambda _: __import__("pyspark").__file__)
    assert Path(files.first()).is_file()

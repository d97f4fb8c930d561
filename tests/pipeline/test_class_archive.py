"""The archive of Spark's classes: used where there is one, made where there is none."""

import os
from pathlib import Path

import pyspark
import pytest
from pyspark import SparkContext

from kafkaviz.pipeline.spark import class_archive
from kafkaviz.pipeline.spark.java import launcher, started_by


def test_without_an_archive_there_are_no_options(tmp_path):
    """Spark starts as it would anyway."""
    java = tmp_path / "java"
    java.write_text("exec java")
    assert class_archive.options(tmp_path, java) == ""


def test_another_java_has_another_archive(tmp_path):
    """One is of a Java and a Spark, and Java refuses it for others."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("exec java-17")
    other.write_text("exec java-21")
    archive = class_archive._path(tmp_path, one)
    archive.parent.mkdir()
    archive.touch()
    assert str(archive) in class_archive.options(tmp_path, one)
    assert class_archive.options(tmp_path, other) == ""


def test_jars_that_are_installed_anew_have_another_archive(tmp_path, monkeypatch):
    """Java refuses an archive of jars whose time has changed, though path and release are the same."""
    monkeypatch.setattr(pyspark, "__file__", str(tmp_path / "pyspark" / "__init__.py"))
    java, jar = tmp_path / "java", tmp_path / "pyspark" / "jars" / "spark-core.jar"
    java.write_text("exec java")
    jar.parent.mkdir(parents=True)
    jar.touch()
    archive = class_archive._path(tmp_path, java)
    archive.parent.mkdir()
    archive.touch()
    os.utime(jar, (0, 0))
    assert class_archive.options(tmp_path, java) == ""
    assert class_archive._path(tmp_path, java).name.startswith(archive.name.partition("-")[0])


def test_the_java_behind_a_launcher(tmp_path):
    """The program that the launcher's last line starts."""
    assert started_by(launcher(tmp_path, Path("/opt/java 17/bin/java"), 17)) == Path(
        "/opt/java 17/bin/java"
    )


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc/PID/maps")
def test_the_session_maps_it(spark, cache):
    """What `kafkaviz warm` made is what the JVM of this run took its classes from."""
    archive = class_archive._path(cache, Path(os.environ["JAVA_HOME"], "bin", "java"))
    if not archive.exists():
        pytest.skip("needs what `kafkaviz warm` makes, which make test calls")
    maps = Path(f"/proc/{SparkContext._gateway.proc.pid}/maps").read_text()
    assert os.path.realpath(archive) in maps


@pytest.mark.nightly
@pytest.mark.parametrize("has_java", [True, False])
def test_one_is_made(tmp_path, monkeypatch, has_java):
    """For the Java of this machine, and for the trimmed one that comes with kafkaviz."""
    if not has_java:
        programs = {"bash", "dirname", "ps", "cat", "uname", "readlink", "basename", "sh", "env"}
        (tmp_path / "bin").mkdir()
        for folder in ("/bin", "/usr/bin"):
            for program in programs:
                if (Path(folder) / program).exists() and not (tmp_path / "bin" / program).exists():
                    (tmp_path / "bin" / program).symlink_to(Path(folder) / program)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        monkeypatch.delenv("JAVA_HOME", raising=False)
    assert class_archive.start_making(tmp_path / "cache").wait() == 0
    (archive,) = (
        path
        for path in (tmp_path / "cache" / class_archive.FOLDER).glob("*.jsa")
        if ".base." not in path.name
    )
    assert archive.stat().st_size > 1 << 24

"""The archive of Spark's classes: used if present, else created."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyspark
import pytest
from pyspark import SparkContext

from kafkaviz.pipeline.spark import java as spark_java
from kafkaviz.pipeline.spark import session
from kafkaviz.pipeline.spark.java import java_of_launcher, launcher


def test_without_an_archive_there_are_no_options(tmp_path):
    java = tmp_path / "java"
    java.write_text("exec java")
    assert spark_java.archive_options(tmp_path, java) == ""


def test_another_java_has_another_archive(tmp_path):
    """Java refuses the archive of another Java or Spark."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("exec java-17")
    other.write_text("exec java-21")
    archive = spark_java._archive_path(tmp_path, one)
    archive.parent.mkdir()
    archive.touch()
    assert str(archive) in spark_java.archive_options(tmp_path, one)
    assert spark_java.archive_options(tmp_path, other) == ""


def test_jars_that_are_installed_again_have_another_archive(tmp_path, monkeypatch):
    """Java refuses an archive of jars whose time has changed, though path and release are the same."""
    monkeypatch.setattr(pyspark, "__file__", str(tmp_path / "pyspark" / "__init__.py"))
    java, jar = tmp_path / "java", tmp_path / "pyspark" / "jars" / "spark-core.jar"
    java.write_text("exec java")
    jar.parent.mkdir(parents=True)
    jar.touch()
    archive = spark_java._archive_path(tmp_path, java)
    archive.parent.mkdir()
    archive.touch()
    os.utime(jar, (0, 0))
    assert spark_java.archive_options(tmp_path, java) == ""
    assert spark_java._archive_path(tmp_path, java).name.startswith(archive.name.partition("-")[0])


def test_the_java_of_a_launcher(tmp_path):
    assert java_of_launcher(launcher(tmp_path, Path("/opt/java 17/bin/java"), 17)) == Path(
        "/opt/java 17/bin/java"
    )


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc/PID/maps")
def test_the_session_maps_it(spark, cache):
    archive = spark_java._archive_path(cache, Path(os.environ["JAVA_HOME"], "bin", "java"))
    if not archive.exists():
        pytest.skip("needs what `kafkaviz warm` makes, which make test calls")
    maps = Path(f"/proc/{SparkContext._gateway.proc.pid}/maps").read_text()
    assert os.path.realpath(archive) in maps


@pytest.mark.nightly
@pytest.mark.parametrize("has_java", [True, False])
def test_one_is_made(tmp_path, monkeypatch, has_java):
    if not has_java:
        programs = {"bash", "dirname", "ps", "cat", "uname", "readlink", "basename", "sh", "env"}
        (tmp_path / "bin").mkdir()
        for folder in ("/bin", "/usr/bin"):
            for program in programs:
                if (Path(folder) / program).exists() and not (tmp_path / "bin" / program).exists():
                    (tmp_path / "bin" / program).symlink_to(Path(folder) / program)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        monkeypatch.delenv("JAVA_HOME", raising=False)
    assert spark_java.start_making_archive(tmp_path / "cache").wait() == 0
    (archive,) = (
        path
        for path in (tmp_path / "cache" / spark_java.ARCHIVE_FOLDER).glob("*.jsa")
        if ".base." not in path.name
    )
    assert archive.stat().st_size > 1 << 24


class JavaRuns:
    """Records the runs of Java that creating an archive takes, without a Java."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, java: Path, *, has_own: bool) -> None:
        self.dumped_paths: list[str] = []
        self.flags: list[str] = []
        self._status = 0 if has_own else 1
        monkeypatch.setattr(session, "prepare", lambda master, cache: java)
        monkeypatch.setattr(spark_java.subprocess, "run", self._run)
        monkeypatch.setattr(spark_java, "_start_spark", self._start_spark)

    def _run(self, command: list, **_options: bool) -> SimpleNamespace:
        if "-Xshare:dump" in command:
            self.dumped_paths.append(command[-1])
        return SimpleNamespace(returncode=self._status)

    def _start_spark(self, flags: str) -> None:
        self.flags.append(flags)
        (path,) = (
            flag.partition("=")[2] for flag in flags.split() if "ArchiveClassesAtExit" in flag
        )
        Path(path).write_text("classes")


@pytest.fixture
def java(tmp_path) -> Path:
    path = tmp_path / "java"
    path.write_text("exec java")
    return path


@pytest.mark.parametrize("has_own", [True, False])
def test_a_java_without_classes_of_its_own_is_given_them_first(
    tmp_path, monkeypatch, java, has_own
):
    """A trimmed Java; the archive of Spark's classes is then based on its own."""
    runs = JavaRuns(monkeypatch, java, has_own=has_own)
    spark_java._make_archive(tmp_path)
    archive = spark_java._archive_path(tmp_path, java)
    assert archive.read_text() == "classes"
    base = f"-XX:SharedArchiveFile={archive.with_suffix('.base.jsa')}"
    assert runs.dumped_paths == ([] if has_own else [base])
    assert (base in runs.flags[0]) != has_own


def test_an_archive_of_other_jars_makes_way(tmp_path, monkeypatch, java):
    """The archive for the same Java and Spark; those of others stay, and so do the base classes."""
    JavaRuns(monkeypatch, java, has_own=True)
    archive = spark_java._archive_path(tmp_path, java)
    archive.parent.mkdir()
    place = archive.stem.partition("-")[0]
    names = [f"{place}-0.jsa", "other-0.jsa", archive.with_suffix(".base.jsa").name]
    for name in names:
        (archive.parent / name).touch()
    spark_java._make_archive(tmp_path)
    assert {path.name for path in archive.parent.iterdir()} == {archive.name, *names[1:]}


def test_what_is_there_is_not_made_again(tmp_path, monkeypatch, java):
    """Nor where spark-submit has started the Java."""
    runs = JavaRuns(monkeypatch, java, has_own=True)
    spark_java._make_archive(tmp_path)
    spark_java._make_archive(tmp_path)
    monkeypatch.setattr(session, "prepare", lambda master, cache: None)
    spark_java._make_archive(tmp_path / "other")
    assert len(runs.flags) == 1 and not (tmp_path / "other").exists()


def test_the_process_that_makes_one_says_nothing(tmp_path, monkeypatch):
    started = {}
    monkeypatch.setattr(
        spark_java.subprocess,
        "Popen",
        lambda command, **streams: started.update(streams, command=command),
    )
    spark_java.start_making_archive(tmp_path)
    assert started["command"] == [sys.executable, "-m", spark_java.__name__, str(tmp_path)]
    assert {started[name] for name in ("stdin", "stdout", "stderr")} == {subprocess.DEVNULL}

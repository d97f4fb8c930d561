"""The session: what its workers inherit, and how it comes back after its JVM was killed."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline.session import CHECKOUT, alive, prepare, session, settings

ROOT = Path(__file__).parents[2]
KILLED = """
import os, signal, time
from pyspark import SparkContext
from kafkaviz.pipeline.session import alive, session

first = session("local[1]")
assert alive(first) and first.range(3).count() == 3
assert session("local[1]") is first
process = SparkContext._gateway.proc
os.kill(process.pid, signal.SIGKILL)
process.wait()
assert not alive(first)
second = session("local[1]")
assert second is not first and alive(second) and second.range(3).count() == 3
third = session("local[2]")
assert not alive(second) and third.sparkContext.master == "local[2]" and third.range(3).count() == 3
third.stop()
assert not alive(third)
"""
UNINSTALLED = """
import sys
sys.path.insert(0, {root!r})  # as streamlit run does: workers do not inherit it
from kafkaviz.pipeline.job import start_ingest
start_ingest([{directory!r}], {catalog!r}, "local[1]").wait()
"""


def test_workers_get_this_python_and_this_checkout(tmp_path):
    """Whatever the shell says, and whatever lies on its path; what was on PYTHONPATH stays there."""
    environ = {"PATH": os.environ["PATH"], "PYSPARK_PYTHON": "/other/python", "PYTHONPATH": f"/mine{os.pathsep}{CHECKOUT}"}
    prepare("local[2]", tmp_path, environ)
    assert environ["PYSPARK_PYTHON"] == sys.executable
    assert environ["PYTHONPATH"].split(os.pathsep) == [str(CHECKOUT), "/mine"]
    assert environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert environ["JAVA_HOME"].startswith(str(tmp_path))


def test_on_a_cluster_people_know_better(tmp_path):
    """Workers elsewhere must reach the driver, and have a Python of their own."""
    environ = {"PATH": os.environ["PATH"], "PYSPARK_PYTHON": "/other/python"}
    prepare("spark://there:7077", tmp_path, environ)
    assert environ["PYSPARK_PYTHON"] == "/other/python" and "SPARK_LOCAL_IP" not in environ


def test_nothing_is_said_twice(tmp_path):
    """A second session of the same process finds everything as the first left it."""
    environ = {"PATH": os.environ["PATH"]}
    prepare("local[2]", tmp_path, environ)
    before = dict(environ)
    prepare("local[2]", tmp_path, environ)
    assert environ == before


def test_the_session_is_started_with_our_settings(spark):
    """Little memory, no port for a user interface, no word on stderr."""
    assert {name: spark.conf.get(name, "") for name in settings()} == settings()
    assert alive(spark) and session("local[2]") is spark
    assert spark.sparkContext.uiWebUrl is None


@pytest.mark.slow
def test_a_killed_jvm_is_replaced():
    """In a process of its own: the session of the tests is left alone."""
    ended = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, capture_output=True, text=True, timeout=180)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_workers_import_what_only_the_driver_can(tmp_path, damaged):
    """A venv with every package but kafkaviz, and a driver that has it on its sys.path alone, in another directory."""
    script = UNINSTALLED.format(root=str(ROOT), directory=str(damaged), catalog=str(tmp_path / "catalog"))
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
    ended = subprocess.run([venv_without(tmp_path), "-c", script], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=180)
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "catalog" / "_catalog.json").exists()


def venv_without(folder: Path) -> Path:
    """The Python of a new venv that sees the packages of this one, all but kafkaviz itself."""
    venv.create(folder / "venv")
    packages = folder / "packages"
    packages.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "kafkaviz" not in path.name:
            (packages / path.name).symlink_to(path)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{packages}\n")
    return folder / "venv" / "bin" / "python"


@pytest.mark.parametrize("master", ["bogus://x", "", "localhost", "spark://", "local[2", "local[2]\nx"])
def test_what_is_no_master_is_said(master):
    """Before a Java starts, which would print a stack trace."""
    with pytest.raises(KafkavizError, match=r"is no Spark master; there are local\[2\]"):
        session(master)

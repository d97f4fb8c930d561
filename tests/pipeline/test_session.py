"""The session: what its workers inherit, and how it is replaced after its JVM was killed."""

import gc
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pyspark
import pytest
from py4j.protocol import Py4JJavaError

from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.schema import OWN_TABLES, TABLES
from kafkaviz.pipeline.spark.daemon import print_fault
from kafkaviz.pipeline.spark.session import (
    CHECKOUT,
    SOURCE_MODULES,
    is_alive,
    prepare,
    session,
    settings,
    submitted_master,
)
from tests.pipeline.catalog_rows import rows
from tests.pipeline.processes import ROOT, run_python
from tests.support.ingest import run_ingest

SPARK_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
KILLED = """
import os, signal, time
from pyspark import SparkContext
from kafkaviz.pipeline.spark.session import is_alive, session

first = session("local[1]")
assert is_alive(first.sparkContext) and first.range(3).count() == 3
assert session("local[1]") is first
process = SparkContext._gateway.proc
os.kill(process.pid, signal.SIGKILL)
process.wait()
assert not is_alive(first.sparkContext)
second = session("local[1]")
assert second is not first and is_alive(second.sparkContext) and second.range(3).count() == 3
third = session("local[2]")
assert not is_alive(second.sparkContext) and third.sparkContext.master == "local[2]" and third.range(3).count() == 3
third.stop()
assert not is_alive(third.sparkContext)
print("replaced twice")
"""
UNINSTALLED = """
import sys
sys.path.insert(0, {root!r})  # as streamlit run does: workers do not inherit it
from kafkaviz.pipeline.ingest.job import start_ingest
start_ingest([{directory!r}], {catalog!r}, "local[1]").wait()
"""
ANOTHERS = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from pyspark.sql import SparkSession
from kafkaviz.errors import KafkavizError
from kafkaviz.log.archives.archive import cache_folder
from kafkaviz.pipeline.spark.java import ensure_java
from kafkaviz.pipeline.ingest.job import start_ingest
from kafkaviz.pipeline.spark.session import session

def state():
    context = mine.sparkContext
    return sorted(context.getConf().getAll()), context.pythonExec, dict(context.environment), mine.conf.get("spark.app.name")

def refused(**given):
    try:
        start_ingest([{directory!r}], "never", **given).wait()
    except KafkavizError as error:
        return str(error)

ensure_java(cache_folder())
mine = SparkSession.builder.master("local[1]").appName("mine").config("spark.ui.enabled", "false").getOrCreate()
mine.range(1).count()  # with the first query Spark itself sets where its warehouse is
before = state()
start_ingest([{directory!r}], "found").wait()
start_ingest([{directory!r}], "given", "local[2]", spark=mine.newSession()).wait()
assert session() is mine and session("local[1]") is mine
assert refused(master="local[2]") == "this process already has a Spark session for local[1], so it cannot start one for local[2]; stop that session, or leave the master out"
assert state() == before and mine.range(3).count() == 3
mine.stop()
assert "was stopped" in refused(spark=mine)
assert not Path("never/_catalog.json").exists()
"""
CONNECTED = """
from kafkaviz.log.archives.archive import cache_folder
from kafkaviz.pipeline.ingest.job import start_ingest
from kafkaviz.pipeline.spark.session import prepare, session, settings

prepare("local", cache_folder())
from pyspark.sql import SparkSession

builder = SparkSession.builder.remote("local[2]")
for setting, value in settings().items():
    builder = builder.config(setting, value)
spark = builder.getOrCreate()
run = start_ingest([{directory!r}], "given", spark=spark)
run.wait()
found = start_ingest([{directory!r}], "found")
found.wait()
progress = found.progress()
print(type(spark).__module__, progress.total_tasks - progress.done_tasks)
"""
SUBMITTED = """
import sys
sys.path.insert(0, {root!r})
from kafkaviz.__main__ import main
from kafkaviz.pipeline.spark.session import session
status = main(["ingest", {directory!r}, "--catalog", "catalog"])
context = session().sparkContext
print(context.master, context.getConf().get("spark.task.maxFailures"), context.getConf().get("spark.ui.showConsoleProgress"))
sys.exit(status)
"""


def test_workers_get_this_python_and_this_checkout(tmp_path):
    """Independent of the shell's variables and PATH; the old PYTHONPATH is kept."""
    environ = {
        "PATH": os.environ["PATH"],
        "PYSPARK_PYTHON": "/other/python",
        "PYTHONPATH": f"/mine{os.pathsep}{CHECKOUT}",
    }
    prepare("local[2]", tmp_path, environ)
    assert environ["PYSPARK_PYTHON"] == sys.executable
    paths = [str(CHECKOUT), str(CHECKOUT / SOURCE_MODULES), "/mine"]
    assert environ["PYTHONPATH"].split(os.pathsep) == paths
    assert environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert environ["JAVA_HOME"].startswith(str(tmp_path))


def test_on_a_cluster_people_know_better(tmp_path):
    """Workers elsewhere must reach the driver, and have a Python of their own."""
    environ = {"PATH": os.environ["PATH"], "PYSPARK_PYTHON": "/other/python"}
    prepare("spark://there:7077", tmp_path, environ)
    assert environ["PYSPARK_PYTHON"] == "/other/python" and "SPARK_LOCAL_IP" not in environ


def test_a_second_preparation_changes_nothing(tmp_path):
    environ = {"PATH": os.environ["PATH"]}
    prepare("local[2]", tmp_path, environ)
    before = dict(environ)
    prepare("local[2]", tmp_path, environ)
    assert environ == before


def test_the_session_is_started_with_our_settings(spark):
    """Little memory, no port for a user interface, no word on stderr."""
    for name, value in settings().items():
        assert spark.conf.get(name, "").endswith(value)  # Spark puts Java's modules in front
    assert is_alive(spark.sparkContext) and session("local[2]") is spark
    assert spark.sparkContext.uiWebUrl is None


def test_a_worker_keeps_the_collector_off_what_it_was_forked_with(spark):
    """It collects after each task, but not the thousand modules of its daemon."""
    found = spark.sparkContext.parallelize([0], 1).map(lambda _: collector_state()).first()
    assert found == (True, True, True)


def collector_state() -> tuple[bool, bool, bool]:
    """Returns whether garbage is collected in a worker, objects are frozen, and our code ran first."""
    return gc.isenabled(), gc.get_freeze_count() > 100_000, "kafkaviz.analysis.sweep" in sys.modules


def test_who_has_no_secret_is_not_heard(spark):
    """Spark's ports are open to every user, and one of them can stop the executor."""
    conf, jvm = spark.sparkContext.getConf(), spark._jvm
    assert conf.get("spark.authenticate") == "true"
    stranger = jvm.org.apache.spark.SparkConf(False).set("spark.rpc.lookupTimeout", "20s")
    assert not reaches(jvm, stranger, conf.get("spark.driver.port"))


def reaches(jvm, conf, port: str) -> bool:
    """Returns whether a client of that configuration finds the executor of a local session."""
    rpc, spark = jvm.org.apache.spark.rpc, jvm.org.apache.spark
    settings_of_spark = getattr(getattr(spark.internal.config, "package$"), "MODULE$")
    no_file = settings_of_spark.AUTH_SECRET_FILE()
    security = spark.SecurityManager(conf, jvm.scala.Option.empty(), no_file)
    client = rpc.RpcEnv.create("client", "127.0.0.1", 0, conf, security, True)
    address = rpc.RpcAddress("127.0.0.1", int(port))
    try:
        client.setupEndpointRef(address, "LocalSchedulerBackendEndpoint")
    except Py4JJavaError:
        return False
    finally:
        client.shutdown()
    return True


@pytest.mark.parametrize(
    ("master", "is_ours"),
    [("local", True), ("local[*]", True), ("local-cluster[1,1,900]", False), ("yarn", False)],
)
def test_only_a_local_session_is_given_a_secret(master, is_ours):
    """On a cluster its administrator's setting counts."""
    assert ("spark.authenticate" in settings(master)) == is_ours


def test_a_session_on_a_cluster_inherits_no_secret(spark):
    """A JVM's start settings apply to every session that it ever has."""
    assert spark._jvm.java.lang.System.getProperty("spark.driver.memory")
    assert spark._jvm.java.lang.System.getProperty("spark.authenticate") is None


@pytest.mark.nightly
def test_a_killed_jvm_is_replaced():
    assert run_python(KILLED) == "replaced twice\n"


@pytest.mark.nightly
def test_workers_import_what_only_the_driver_can(tmp_path, damaged):
    """A venv with every package but kafkaviz, and a driver with it on its sys.path."""
    script = UNINSTALLED.format(
        root=str(ROOT), directory=str(damaged), catalog=str(tmp_path / "catalog")
    )
    run_uninstalled(script, tmp_path)
    assert (tmp_path / "catalog" / "_catalog.json").exists()


@pytest.mark.nightly
def test_a_foreign_session_is_used_unchanged(tmp_path, damaged):
    """Found running or given: its settings stay, it is not stopped, and its workers find what only
    the driver can import.
    """
    script = ANOTHERS.format(root=str(ROOT), directory=str(damaged))
    run_uninstalled(script, tmp_path)
    found, given = (catalog.read(tmp_path / name).info.rows for name in ("found", "given"))
    assert found == given and found["batches"] > 0 and found["findings"] > 0


@pytest.mark.nightly
def test_the_master_of_spark_submit_counts(tmp_path, damaged, cache):
    (tmp_path / "script.py").write_text(SUBMITTED.format(root=str(ROOT), directory=str(damaged)))
    environ = dict(os.environ) | {
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYSPARK_PYTHON": sys.executable,
    }
    prepare("local", cache, environ)
    settings = ["spark.task.maxFailures=7", "spark.ui.showConsoleProgress=true"]
    arguments = ["--master=local[1,2]", *(f"--conf={setting}" for setting in settings)]
    command = [SPARK_SUBMIT, *arguments, tmp_path / "script.py"]
    ended = subprocess.run(
        command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=400
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "local[1,2] 7 true"
    assert catalog.read(tmp_path / "catalog").info.rows["batches"] > 0


@pytest.mark.parametrize(
    ("arguments", "master"),
    [
        ("", "local[*]"),
        ("pyspark-shell", "local[*]"),
        ("--master spark://there:7077 pyspark-shell", "spark://there:7077"),
        ("--conf 'spark.a=b c' --master=yarn pyspark-shell", "yarn"),
    ],
)
def test_the_master_that_the_environment_names_counts(arguments, master):
    assert submitted_master({"PYSPARK_SUBMIT_ARGS": arguments} if arguments else {}) == master


@pytest.mark.nightly
def test_an_ingest_on_spark_connect(tmp_path, damaged):
    """A server and a session in a process of its own; the session is given, and then found running."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"}
    # a copy, because only the process that unpacked an archive shows the archive's path
    directory = shutil.copytree(damaged, tmp_path / "broker")
    script = CONNECTED.format(directory=str(directory))
    printed = run_python(script, folder=tmp_path, environ=environ)
    assert printed.splitlines()[-1] == "pyspark.sql.connect.session 0"
    run_ingest(directory, catalog=tmp_path / "here", findings=True)
    for name in ("given", "found"):
        for table in TABLES.keys() - OWN_TABLES:
            assert rows(tmp_path / name, table) == rows(tmp_path / "here", table)


def run_uninstalled(script: str, folder: Path) -> None:
    """Runs a script by the Python of a new venv that sees all packages of this one but kafkaviz."""
    venv.create(folder / "venv")
    packages = folder / "packages"
    packages.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "kafkaviz" not in path.name:
            (packages / path.name).symlink_to(path)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{packages}\n")
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYSPARK"))
    }
    run_python(script, folder=folder, environ=environ, python=folder / "venv" / "bin" / "python")


@pytest.mark.parametrize(
    "master", ["bogus://x", "", "localhost", "spark://", "local[2", "local[2]\nx"]
)
def test_what_is_no_master_is_reported(master):
    """Before a Java starts, which would print a stack trace."""
    with pytest.raises(KafkavizError, match=r"is not a Spark master; give one such as local\[2\]"):
        session(master)


@pytest.mark.parametrize(
    ("error", "words"), [(BrokenPipeError, ""), (EOFError, ""), (ValueError, "ValueError")]
)
def test_a_worker_without_a_jvm_says_nothing(capsys, error, words):
    """A run that is stopped while a worker starts prints one line; other faults are printed."""
    try:
        raise error
    except error:
        print_fault()
    printed = capsys.readouterr().err
    assert words in printed and bool(printed) == bool(words)

"""A standalone master and its worker, two processes as an administrator starts them: the same catalog as in this process."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from socket import create_connection, socket

import pyspark
import pytest

from kafkaviz.pipeline.session import prepare
from tests.pipeline.test_job import assert_catalog_holds

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
PATIENCE_S = 60


@pytest.fixture
def master(tmp_path, cache) -> Iterator[str]:
    """The address of a master whose worker has two cores."""
    environ = dict(os.environ)
    prepare("local", cache, environ)
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        start(stack, environ, "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        wait_for_port(port)
        start(stack, environ, "worker.Worker", "--cores", "2", "--memory", "1g", "--webui-port", "0", "-d", str(tmp_path), address)
        yield address


def start(stack: ExitStack, environ: dict[str, str], name: str, *given: str) -> None:
    """A process of Spark's, ended with the test."""
    nowhere = subprocess.DEVNULL
    command = [SPARK_CLASS, f"org.apache.spark.deploy.{name}", *given]
    process = subprocess.Popen(command, env=environ, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    stack.callback(process.wait)
    stack.callback(process.terminate)


def free_port() -> int:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for_port(port: int) -> None:
    """Until somebody listens there."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            return create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the master does not listen")


@pytest.mark.slow
def test_a_cluster_makes_the_same_catalog(master, clean, damaged, on_spark, tmp_path):
    """Rows and all; and a second run there finds nothing to do."""
    on_spark(clean, damaged, catalog=tmp_path / "catalog", master=master)
    assert_catalog_holds(tmp_path / "catalog", clean, damaged)
    assert on_spark(clean, damaged, catalog=tmp_path / "catalog", master=master).progress().state == "fresh"
    assert list(tmp_path.glob("app-*")), "the worker has run no executor"

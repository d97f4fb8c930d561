"""The one place a SparkSession is made: quiet, small, local by default, and started again when its JVM was killed."""

import os
import re
import sys
import sysconfig
import threading
from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.errors import KafkavizError
from kafkaviz.log.archive import cache_folder
from kafkaviz.pipeline.java import ensure_java
from kafkaviz.units import legible

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOG4J = Path(__file__).with_name("log4j2.properties")
CHECKOUT = Path(__file__).resolve().parents[2]
DRIVER_MEMORY = "512m"  # Spark refuses less than 450m; batch rows never reach the JVM
FRUGAL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # the JVM does little but start: half its processor time went into optimizing
MORTAL = "-XX:+ExitOnOutOfMemoryError"  # else a thread of Spark that ran out of memory is waited for without end
MASTER = re.compile(r"local(-cluster)?(\[[^\]]*\])?|yarn|(spark|k8s)://.+")
ONE_AT_A_TIME = threading.Lock()


def session(master: str = "local[*]", cache: Path | None = None) -> "SparkSession":
    """The running session of this process for that master, or a new one.

    The first start takes 4 to 9 s. A session for another master is stopped; one whose JVM was killed is given up.
    cache: where the launcher of its Java stands; the user's cache folder by default. Raises NoJava, KafkavizError
    for what is no master.
    """
    from pyspark.sql import SparkSession

    if not MASTER.fullmatch(master):  # else Java answers with a stack trace
        raise KafkavizError(f"{legible(master)} is no Spark master; there are local[2] and its like, spark://HOST:PORT, yarn and k8s://URL")
    with ONE_AT_A_TIME:
        running = SparkSession._instantiatedSession
        if running is not None and not alive(running):
            _forget()
        elif running is not None and running.sparkContext.master != master:
            running.stop()
        prepare(master, cache or cache_folder())
        builder = SparkSession.builder.master(master).appName("kafkaviz")
        for name, value in settings().items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


def settings() -> dict[str, str]:
    """What every session of ours is started with, once the environment is prepared."""
    return {
        "spark.ui.enabled": "false",  # takes no port
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": DRIVER_MEMORY,  # counts only before the JVM starts
        "spark.driver.extraJavaOptions": f"{FRUGAL} {MORTAL} -Dlog4j2.configurationFile=file:{LOG4J}",
        "spark.python.daemon.module": "kafkaviz.pipeline.daemon",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }


def alive(spark: "SparkSession") -> bool:
    """Whether its JVM answers and its context was not stopped."""
    context = spark.sparkContext
    if context._jsc is None:
        return False
    try:
        return not context._jsc.sc().isStopped()
    except Exception:  # py4j raises a ConnectionRefusedError, its own network error or an OSError, as the moment has it
        return False


def prepare(master: str, cache: Path, environ: MutableMapping[str, str] = os.environ) -> None:
    """Sets what the JVM and Spark's Python workers inherit; after the JVM's start it would count no more. Raises NoJava."""
    ensure_java(cache, environ)
    if master.startswith("local"):
        environ["PYSPARK_PYTHON"] = sys.executable  # Spark's default is the first python3 on PATH: another venv
        environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else sockets on the outer interface, and a warning
    else:
        environ.setdefault("PYSPARK_PYTHON", sys.executable)  # on a cluster people know where theirs is
    if Path(sysconfig.get_path("purelib")).resolve() != CHECKOUT:
        _workers_import_from(CHECKOUT, environ)


def _workers_import_from(root: Path, environ: MutableMapping[str, str]) -> None:
    """Spark's workers see PYTHONPATH but not the driver's sys.path, and streamlit run adds to the latter alone."""
    others = [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != str(root)]
    environ["PYTHONPATH"] = os.pathsep.join([str(root), *others])


def _forget() -> None:
    """Drops a session whose JVM was killed.

    getOrCreate would go on talking to the dead one, and pyspark has no public way to say so: these names are its own.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._gateway is not None and (process := getattr(SparkContext._gateway, "proc", None)) is not None:
        process.stdin.close()  # a JVM that merely hangs ends with its stdin
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None

"""The only place that creates a SparkContext or SparkSession.

A session that kafkaviz creates is quiet, small and by default local. It is created again if the JVM
was killed. If the process already has a session that kafkaviz did not create, kafkaviz uses that
session unchanged and never stops it.
"""

import argparse
import os
import re
import shlex
import sys
import sysconfig
import threading
from collections.abc import Generator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from kafkaviz import extras
from kafkaviz.errors import KafkavizError
from kafkaviz.log.cache_folder import cache_folder
from kafkaviz.messages import message
from kafkaviz.pipeline.spark.java import archive_options, ensure_java
from kafkaviz.units import escape_controls

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

LOG4J = Path(__file__).with_name("log4j2.properties")
CHECKOUT = Path(__file__).resolve().parents[3]
SOURCE_MODULES = "distributions/spark"  # in a checkout: modules by which Spark finds the formats
DRIVER_MEMORY = "512m"  # Spark requires at least 450m; rows of batches never reach the JVM
# After its start the JVM has little to do. Without these flags, half of its CPU time goes into
# optimising code.
LOW_CPU_FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# without this, Spark waits forever for a thread that ran out of memory
EXIT_WITHOUT_MEMORY = "-XX:+ExitOnOutOfMemoryError"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
JVM_SETTINGS = {
    "spark.driver.memory": DRIVER_MEMORY,
    JAVA_OPTIONS: f"{LOW_CPU_FLAGS} {EXIT_WITHOUT_MEMORY} -Dlog4j2.configurationFile=file:{LOG4J}",
}
CONNECT_SCHEME = "sc://"
MASTER = re.compile(r"local(-cluster)?(\[[^\]]*\])?|yarn|(spark|k8s|sc)://.+")
SESSION_LOCK = threading.Lock()
# environment variable that spark-submit sets to the port of the JVM
GATEWAY_PORT = "PYSPARK_GATEWAY_PORT"
_own_context: "SparkContext | None" = None  # created by kafkaviz; only this one may be stopped


def context(master: str | None = None, cache: Path | None = None) -> "SparkContext":
    """Returns the running SparkContext of this process, or creates one for `master`.

    An ingest needs only a context. A session would also load Spark's query planner in 1.5 seconds.
    If the running context has another master, and kafkaviz created it, it is stopped first.

    Args:
        master: the Spark master. None: the master of the running context. If no context runs, the
            master given to spark-submit, or else local[*].
        cache: the folder for the Java launcher. None: the user's cache folder.

    Raises:
        NoJava: this machine has no Java on which Spark can run.
        MissingPackages: Spark is not installed.
        KafkavizError: `master` is not the name of a master. Or the running context has another
            master, and kafkaviz did not create it.
    """
    global _own_context
    extras.require("spark")
    from pyspark import SparkConf, SparkContext

    _refuse_unknown(master)
    with SESSION_LOCK:
        running = SparkContext._active_spark_context
        if running is not None and not is_alive(running):
            _drop_dead_session()
        elif running is not None:
            if master in (None, running.master):
                return running
            if running is not _own_context:
                what = message("errors.other_session", running=running.master, master=master)
                raise KafkavizError(what)
            from pyspark.sql import SparkSession

            (SparkSession._instantiatedSession or running).stop()
        master = master or submitted_master(os.environ)
        cache = cache or cache_folder()
        java = prepare(master, cache)
        submit_settings = _submitted_settings() if GATEWAY_PORT in os.environ else {}
        if not submit_settings:
            # only these settings, because later sessions of a JVM inherit the settings of its start
            flags = archive_options(cache, java) if java else ""
            jvm_settings = with_java_options(JVM_SETTINGS, flags)
            SparkContext._ensure_initialized(
                conf=SparkConf(loadDefaults=False).setAll(list(jvm_settings.items()))
            )
        conf = SparkConf().setMaster(master).setAppName("kafkaviz")
        conf.setAll(list((settings(master) | submit_settings).items()))
        _own_context = SparkContext(conf=conf)
        return _own_context


def session(master: str | None = None, cache: Path | None = None) -> "SparkSession":
    """Returns a Spark session, or a Spark Connect session for a master sc://HOST:PORT.

    A Spark session uses the SparkContext that `context` returns. Without a master, SPARK_REMOTE may
    name a Spark Connect server.
    """
    extras.require("spark")
    from pyspark.sql import SparkSession

    if is_connect(master):
        _refuse_unknown(master)
        builder = SparkSession.builder
        return (builder.remote(master) if master else builder).getOrCreate()
    context(master, cache)
    return SparkSession.builder.getOrCreate()


def with_java_options(settings: Mapping[str, str], flags: str) -> dict[str, str]:
    return {**settings, JAVA_OPTIONS: f"{settings[JAVA_OPTIONS]} {flags}".strip()}


def is_connect(master: str | None) -> bool:
    """Returns whether `master` is a Spark Connect server. None: environment variables decide."""
    if master is not None:
        return master.startswith(CONNECT_SCHEME)
    return "SPARK_REMOTE" in os.environ or "SPARK_CONNECT_MODE_ENABLED" in os.environ


def is_connected(spark: "SparkSession") -> bool:
    """Returns whether this is a Spark Connect session, which has no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def refuse_stopped(spark: "SparkSession") -> None:
    """Raises KafkavizError if the session was stopped."""
    connected: Any = spark
    if connected.is_stopped if is_connected(spark) else not is_alive(spark.sparkContext):
        raise KafkavizError(message("errors.session_stopped"))


def _refuse_unknown(master: str | None) -> None:
    if master is not None and not MASTER.fullmatch(master):
        raise KafkavizError(message("errors.is_no_master", master=escape_controls(master)))


def submitted_master(environ: Mapping[str, str]) -> str:
    """Returns the master given to spark-submit or in PYSPARK_SUBMIT_ARGS; by default "local[*]"."""
    if GATEWAY_PORT in environ:
        return _submitted_settings().get("spark.master", "local[*]")
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--master", default="local[*]")
    return parser.parse_known_args(shlex.split(environ.get("PYSPARK_SUBMIT_ARGS", "")))[0].master


def _submitted_settings() -> dict[str, str]:
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf(_jvm=SparkContext._jvm).getAll())


def settings(master: str = "local[*]") -> dict[str, str]:
    """Returns the Spark settings of sessions that kafkaviz creates. Call `prepare` first."""
    # a local Spark creates the secret itself; on a cluster the user must set it
    local = {"spark.authenticate": "true"} if re.match(r"local(\[|$)", master) else {}
    return {
        **local,
        **JVM_SETTINGS,
        "spark.ui.enabled": "false",  # the web UI would listen on a port
        "spark.ui.showConsoleProgress": "false",
        "spark.python.daemon.module": "kafkaviz.pipeline.spark.daemon",
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }


def is_alive(context: "SparkContext") -> bool:
    """Returns whether the context was not stopped and its JVM answers."""
    if context._jsc is None:
        return False
    try:
        return not context._jsc.sc().isStopped()
    # py4j raises ConnectionRefusedError, its own network error or an OSError, depending on timing
    except Exception:
        return False


def prepare(
    master: str, cache: Path, environ: MutableMapping[str, str] = os.environ
) -> Path | None:
    """Sets environment variables for the JVM and Spark's Python workers.

    Returns the java launcher. None: spark-submit has already started the JVM. Raises NoJava if this
    machine has no Java on which Spark can run.
    """
    java = None if GATEWAY_PORT in environ else ensure_java(cache, environ)
    if master.startswith("local"):
        # Spark's default is the first python3 on PATH, which may be that of another venv
        environ["PYSPARK_PYTHON"] = sys.executable
        # without this, Spark listens on an external interface and prints a warning
        environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    else:
        # on a cluster, the user may have set this
        environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if Path(sysconfig.get_path("purelib")).resolve() != CHECKOUT:
        _workers_import_from(CHECKOUT, environ)
    return java


def _workers_import_from(root: Path, environ: MutableMapping[str, str]) -> None:
    """Adds `root` (this checkout) and its modules pyspark_kafka_* to PYTHONPATH.

    Spark's workers get PYTHONPATH, but not the driver's sys.path. `streamlit run` changes only
    sys.path.
    """
    added = [str(root), str(root / SOURCE_MODULES)]
    paths = environ.get("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in paths if path and path not in added]
    environ["PYTHONPATH"] = os.pathsep.join([*added, *others])


@contextmanager
def workers_with_kafkaviz(context: "SparkContext") -> Generator[None]:
    """Makes a context's workers run this Python and find kafkaviz.

    This applies to RDDs that are defined in the with block. After the block, the context has its
    previous settings. Workers of a context that kafkaviz did not create spend a second or two on
    imports, because the JVM uses Spark's daemon instead of daemon.py. Only one thread at a time can
    be in the block.
    """
    with SESSION_LOCK:
        python = context.pythonExec
        environment = context.environment
        if (
            cast(str, context.master).startswith("local")
            and "PYSPARK_PYTHON" not in os.environ
            and not context.getConf().contains("spark.pyspark.python")
        ):
            context.pythonExec = sys.executable
        if Path(sysconfig.get_path("purelib")).resolve() != CHECKOUT:
            context.environment = dict(environment)
            _workers_import_from(CHECKOUT, context.environment)
        try:
            yield
        finally:
            context.pythonExec = python
            context.environment = environment


def _drop_dead_session() -> None:
    """Drops a session whose JVM was killed, so that `getOrCreate` does not return it again.

    pyspark has no public function for this, so private names are used.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # a JVM that no longer answers exits when its stdin is closed
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None

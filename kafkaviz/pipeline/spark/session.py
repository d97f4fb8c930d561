"""The one place a SparkSession is made.

Quiet, small, local by default, and started again when its JVM was killed.

A session that somebody else made in this process is used as it is, and never stopped.
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
from kafkaviz.pipeline.spark import class_archive
from kafkaviz.pipeline.spark.java import ensure_java
from kafkaviz.units import escape_controls

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

LOG4J = Path(__file__).with_name("log4j2.properties")
CHECKOUT = Path(__file__).resolve().parents[3]
DRIVER_MEMORY = "512m"  # Spark refuses less than 450m; batch rows never reach the JVM
# the JVM does little but start: half its processor time went into optimizing
FRUGAL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# else a thread of Spark that ran out of memory is waited for without end
MORTAL = "-XX:+ExitOnOutOfMemoryError"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
JVM_SETTINGS = {
    "spark.driver.memory": DRIVER_MEMORY,
    JAVA_OPTIONS: f"{FRUGAL} {MORTAL} -Dlog4j2.configurationFile=file:{LOG4J}",
}
CONNECT_SCHEME = "sc://"
MASTER = re.compile(r"local(-cluster)?(\[[^\]]*\])?|yarn|(spark|k8s|sc)://.+")
SESSION_LOCK = threading.Lock()
# in the environment of what spark-submit runs: where its JVM listens
GATEWAY_PORT = "PYSPARK_GATEWAY_PORT"
_own_context: "SparkContext | None" = None  # by us: the only one that we may stop


def context(master: str | None = None, cache: Path | None = None) -> "SparkContext":
    """The running SparkContext of this process, or a new one for that master.

    All that an ingest needs: Spark's planner of queries, which a session loads too, takes a second
    and a half of its start. Of our own, one for another master is stopped; one whose JVM was killed
    is given up.

    Args:
        master: by default that of the running context, else of spark-submit, else local[*].
        cache: where the launcher of its Java stands; the user's cache folder by default.

    Raises:
        NoJava: no Java that Spark can run on was found.
        MissingPackages: Spark is not installed.
        KafkavizError: the name is no master, or a context that is not ours runs for another one.
    """
    global _own_context
    extras.require("spark")
    from pyspark import SparkConf, SparkContext

    _refuse_unknown(master)
    with SESSION_LOCK:
        running = SparkContext._active_spark_context
        if running is not None and not is_alive(running):
            _forget()
        elif running is not None:
            if master in (None, running.master):
                return running
            if running is not _own_context:
                raise KafkavizError(
                    message("errors.other_session", running=running.master, master=master)
                )
            _stop(running)
        master, cache = master or submitted_master(os.environ), cache or cache_folder()
        java = prepare(master, cache)
        submit_settings = _submitted_settings() if GATEWAY_PORT in os.environ else {}
        if not submit_settings:
            # with these alone: what a JVM is started with, each later session of it inherits
            flags = class_archive.options(cache, java) if java else ""
            jvm_settings = with_java_options(JVM_SETTINGS, flags)
            SparkContext._ensure_initialized(
                conf=SparkConf(loadDefaults=False).setAll(list(jvm_settings.items()))
            )
        conf = SparkConf().setMaster(master).setAppName("kafkaviz")
        conf.setAll(list((settings(master) | submit_settings).items()))
        _own_context = SparkContext(conf=conf)
        return _own_context


def session(master: str | None = None, cache: Path | None = None) -> "SparkSession":
    """The session of `context`, or for a master sc://HOST:PORT one of Spark Connect.

    So it is, too, where no master is given and the environment names a server in SPARK_REMOTE.
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
    """The settings with more options of the driver's JVM."""
    return {**settings, JAVA_OPTIONS: f"{settings[JAVA_OPTIONS]} {flags}".strip()}


def is_connect(master: str | None) -> bool:
    """Whether a master, or without one the environment, names a server of Spark Connect."""
    if master is not None:
        return master.startswith(CONNECT_SCHEME)
    return "SPARK_REMOTE" in os.environ or "SPARK_CONNECT_MODE_ENABLED" in os.environ


def is_connected(spark: "SparkSession") -> bool:
    """Whether it is a session of Spark Connect, which has no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def refuse_stopped(spark: "SparkSession") -> None:
    """Refuses a session that was stopped.

    Raises:
        KafkavizError: it was.
    """
    connected: Any = spark
    if connected.is_stopped if is_connected(spark) else not is_alive(spark.sparkContext):
        raise KafkavizError(message("errors.session_stopped"))


def _refuse_unknown(master: str | None) -> None:
    """Refuses what is no master: else Java answers with a stack trace."""
    if master is not None and not MASTER.fullmatch(master):
        raise KafkavizError(message("errors.is_no_master", master=escape_controls(master)))


def _stop(context: "SparkContext") -> None:
    """Stops a context, and the session that was made on it."""
    from pyspark.sql import SparkSession

    (SparkSession._instantiatedSession or context).stop()


def submitted_master(environ: Mapping[str, str]) -> str:
    """The master that spark-submit was given, or PYSPARK_SUBMIT_ARGS names.

    local[*] where neither says so.
    """
    if GATEWAY_PORT in environ:
        return _submitted_settings().get("spark.master", "local[*]")
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--master", default="local[*]")
    return parser.parse_known_args(shlex.split(environ.get("PYSPARK_SUBMIT_ARGS", "")))[0].master


def _submitted_settings() -> dict[str, str]:
    """What spark-submit was given, by --conf, its options or a file of defaults."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf(_jvm=SparkContext._jvm).getAll())


def settings(master: str = "local[*]") -> dict[str, str]:
    """What every session of ours is started with, once the environment is prepared.

    spark-submit may have been given something else.
    """
    # Spark makes the secret; elsewhere people say
    local = {"spark.authenticate": "true"} if re.match(r"local(\[|$)", master) else {}
    return (
        local
        | JVM_SETTINGS
        | {
            "spark.ui.enabled": "false",  # takes no port
            "spark.ui.showConsoleProgress": "false",
            "spark.python.daemon.module": "kafkaviz.pipeline.spark.daemon",
            "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
    )


def is_alive(context: "SparkContext") -> bool:
    """Whether its JVM answers and it was not stopped."""
    if context._jsc is None:
        return False
    try:
        return not context._jsc.sc().isStopped()
    # py4j raises a ConnectionRefusedError, its own network error or an OSError, as the moment has
    # it
    except Exception:
        return False


def prepare(
    master: str, cache: Path, environ: MutableMapping[str, str] = os.environ
) -> Path | None:
    """Sets what the JVM and Spark's Python workers inherit, before the JVM starts.

    Returns:
        The java program that will be started; None where spark-submit has started its JVM.

    Raises:
        NoJava: no Java that Spark can run on was found.
    """
    java = None if GATEWAY_PORT in environ else ensure_java(cache, environ)
    if master.startswith("local"):
        # Spark's default is the first python3 on PATH: another venv
        environ["PYSPARK_PYTHON"] = sys.executable
        # else sockets on the outer interface, and a warning
        environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    else:
        # on a cluster people know where theirs is
        environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if Path(sysconfig.get_path("purelib")).resolve() != CHECKOUT:
        _workers_import_from(CHECKOUT, environ)
    return java


def _workers_import_from(root: Path, environ: MutableMapping[str, str]) -> None:
    """Adds this checkout to PYTHONPATH.

    Spark's workers see PYTHONPATH but not the driver's sys.path, and streamlit run adds to the
    latter alone.
    """
    others = [
        path
        for path in environ.get("PYTHONPATH", "").split(os.pathsep)
        if path and path != str(root)
    ]
    environ["PYTHONPATH"] = os.pathsep.join([str(root), *others])


@contextmanager
def workers_with_kafkaviz(context: "SparkContext") -> Generator[None]:
    """Makes workers on somebody else's context run this Python and find this checkout.

    That holds for what is defined within the context.

    The context is afterwards as it was. What it lacks is kafkaviz.pipeline.spark.daemon, which a
    JVM takes for all its jobs or for none: each worker imports by itself what ours share, a second
    or two. One thread at a time is within it.
    """
    with SESSION_LOCK:
        python, environment = context.pythonExec, context.environment
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
            context.pythonExec, context.environment = python, environment


def _forget() -> None:
    """Drops a session whose JVM was killed.

    getOrCreate would go on talking to the dead one, and pyspark has no public way to say so: these
    names are its own.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if (
        SparkContext._gateway is not None
        and (process := getattr(SparkContext._gateway, "proc", None)) is not None
    ):
        process.stdin.close()  # a JVM that merely hangs ends with its stdin
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None

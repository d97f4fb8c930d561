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
from typing import TYPE_CHECKING, cast

from kafkaviz.errors import KafkavizError
from kafkaviz.log.cache_folder import cache_folder
from kafkaviz.messages import message
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
JVM_SETTINGS = {
    "spark.driver.memory": DRIVER_MEMORY,
    "spark.driver.extraJavaOptions": f"{FRUGAL} {MORTAL} -Dlog4j2.configurationFile=file:{LOG4J}",
}
MASTER = re.compile(r"local(-cluster)?(\[[^\]]*\])?|yarn|(spark|k8s)://.+")
SESSION_LOCK = threading.Lock()
# in the environment of what spark-submit runs: where its JVM listens
GATEWAY_PORT = "PYSPARK_GATEWAY_PORT"
CONNECT_REFUSAL = message("errors.spark_connect")
_own_context: "SparkContext | None" = None  # by us: the only one that we may stop


def session(master: str | None = None, cache: Path | None = None) -> "SparkSession":
    """The running session of this process, or a new one for that master.

    The first start takes 4 to 9 s. Of our own, one for another master is stopped; one whose JVM was
    killed is given up.

    Args:
        master: by default that of the running session, else of spark-submit, else local[*].
        cache: where the launcher of its Java stands; the user's cache folder by default.

    Raises:
        NoJava: no Java that Spark can run on was found.
        KafkavizError: the name is no master, the session is one of Spark Connect, or one that is
            not ours runs for another master.
    """
    global _own_context
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    if master is not None and not MASTER.fullmatch(master):  # else Java answers with a stack trace
        raise KafkavizError(message("errors.is_no_master", given=escape_controls(master)))
    if "SPARK_REMOTE" in os.environ or "SPARK_CONNECT_MODE_ENABLED" in os.environ:
        raise KafkavizError(CONNECT_REFUSAL)
    with SESSION_LOCK:
        running = SparkSession._instantiatedSession
        if running is not None and not is_alive(running):
            _forget()
        elif (context := SparkContext._active_spark_context) is not None:
            if master in (None, context.master):
                return running or SparkSession.builder.getOrCreate()
            if context is not _own_context:
                raise KafkavizError(
                    message("errors.other_session", running=context.master, master=master)
                )
            context.stop() if running is None else running.stop()
        master = master or submitted_master(os.environ)
        prepare(master, cache or cache_folder())
        submit_settings = _submitted_settings() if GATEWAY_PORT in os.environ else {}
        if not submit_settings:
            # with these alone: what a JVM is started with, each later session of it inherits
            SparkContext._ensure_initialized(
                conf=SparkConf(loadDefaults=False).setAll(list(JVM_SETTINGS.items()))
            )
        builder = SparkSession.builder.master(master).appName("kafkaviz")
        for name, value in settings(master).items():
            builder = builder.config(name, submit_settings.get(name, value))
        spark = builder.getOrCreate()
        _own_context = spark.sparkContext
        return spark


def refuse_unusable(spark: "SparkSession") -> None:
    """Refuses a session that cannot be worked with.

    Raises:
        KafkavizError: it is a session of Spark Connect, or was stopped.
    """
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise KafkavizError(CONNECT_REFUSAL)
    if not is_alive(spark):
        raise KafkavizError(message("errors.session_stopped"))


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


def is_alive(spark: "SparkSession") -> bool:
    """Whether its JVM answers and its context was not stopped."""
    context = spark.sparkContext
    if context._jsc is None:
        return False
    try:
        return not context._jsc.sc().isStopped()
    # py4j raises a ConnectionRefusedError, its own network error or an OSError, as the moment has
    # it
    except Exception:
        return False


def prepare(master: str, cache: Path, environ: MutableMapping[str, str] = os.environ) -> None:
    """Sets what the JVM and Spark's Python workers inherit, before the JVM starts.

    Raises:
        NoJava: no Java that Spark can run on was found.
    """
    if GATEWAY_PORT not in environ:  # else its JVM runs
        ensure_java(cache, environ)
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
    or two.
    """
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

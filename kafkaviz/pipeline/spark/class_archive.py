"""An archive of the classes that Spark loads at its start, which Java maps instead of loading them.

Half of the processor time of a start goes into reading and verifying some ten thousand classes from
Spark's jars. `kafkaviz warm` lets one start write down those it loaded (JEP 350); later ones map
them. Java itself looks whether the archive fits its release and its class path, and goes without
where it does not.
"""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

FOLDER = "class-archive"
DIGITS = 16  # of a name
STARTED_WITHIN_S = 300


def options(cache: Path, java: Path) -> str:
    """The options of a JVM that uses the archive, "" where there is none.

    Args:
        cache: the user's cache folder.
        java: the launcher that Spark starts.
    """
    archive = _path(cache, java)
    # without a word of Java's where the archive does not fit
    return f"-XX:SharedArchiveFile={archive} -Xlog:disable" if archive.exists() else ""


def start_making(cache: Path) -> "subprocess.Popen[bytes]":
    """Starts a process that starts Spark once, and writes the archive if there is none.

    Where it fails, later starts are slower, and no worse.
    """
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(cache)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _path(cache: Path, java: Path) -> Path:
    """Of this Java, which the launcher names, and of the Spark that is installed here."""
    import pyspark

    identity = f"{java.read_text()}{pyspark.__file__}{pyspark.__version__}".encode()
    return cache / FOLDER / f"{sha256(identity).hexdigest()[:DIGITS]}.jsa"


def _make(cache: Path) -> None:
    from kafkaviz.pipeline.spark import session

    java = session.prepare("local[2]", cache)
    if java is None or (archive := _path(cache, java)).exists():
        return
    archive.parent.mkdir(parents=True, exist_ok=True)
    temporary, base = archive.with_suffix(f".{os.getpid()}"), archive.with_suffix(".base.jsa")
    flags = f"-XX:ArchiveClassesAtExit={temporary} -Xlog:disable"
    if subprocess.run([java, "-Xshare:on", "-version"], capture_output=True).returncode != 0:
        # a trimmed Java comes without an archive of its own classes, on which the other builds
        subprocess.run([java, "-Xshare:dump", f"-XX:SharedArchiveFile={base}"], check=True)
        flags = f"-XX:SharedArchiveFile={base} {flags}"
    _start_spark(flags)
    if temporary.exists():
        temporary.replace(archive)


def _start_spark(flags: str) -> None:
    """A start of Spark as an ingest has it, with a job of two tasks, in a JVM with these flags."""
    from pyspark import SparkConf, SparkContext

    from kafkaviz.pipeline.spark import session

    settings = session.with_java_options(session.settings("local[2]"), flags)
    conf = SparkConf().setMaster("local[2]").setAppName("kafkaviz").setAll(list(settings.items()))
    context = SparkContext(conf=conf)
    context.parallelize(range(2), 2).map(str).collect()
    context.stop()
    gateway: Any = SparkContext._gateway
    jvm = gateway.proc
    jvm.stdin.close()  # its end, at which it writes the archive
    jvm.wait(STARTED_WITHIN_S)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))

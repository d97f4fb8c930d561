"""An archive of Spark's classes that Java maps into memory when Spark starts.

Without the archive, Java reads and verifies about ten thousand classes from Spark's jars, which is
half of the CPU time at start. `kafkaviz warm` starts Spark once and stores the loaded classes (JEP
350). An ingest then takes 7.4 s of CPU time until the first job ends, instead of 10.9 s. Java
ignores an archive that does not fit its release and class path. A new archive is made for a new
Java or new jars, and the old archive is removed.
"""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from kafkaviz.pipeline.spark.java import java_of_launcher

FOLDER = "class-archive"
DIGITS = 16  # number of hex digits of each digest in the archive's name
STARTED_WITHIN_S = 300


def options(cache: Path, java: Path) -> str:
    """Returns the JVM options that use the archive; "" without an archive.

    Args:
        cache: the user's cache folder.
        java: the java launcher that Spark starts.
    """
    archive = _path(cache, java)
    # with this, Java prints nothing if the archive does not fit
    return f"-XX:SharedArchiveFile={archive} -Xlog:disable" if archive.exists() else ""


def start_making(cache: Path) -> "subprocess.Popen[bytes]":
    """Starts a process that writes the archive if there is none.

    If the process fails, later starts are merely slower.
    """
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(cache)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _path(cache: Path, java: Path) -> Path:
    import pyspark

    installation = Path(pyspark.__file__).parent
    program = java_of_launcher(java)
    stamps = [
        (path.name, path.stat().st_size, path.stat().st_mtime_ns)
        for path in (program, *sorted(installation.glob("jars/*.jar")))
    ]
    place = _digest(f"{java.read_text()}{installation}")
    return cache / FOLDER / f"{place}-{_digest(repr(stamps))}.jsa"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:DIGITS]


def _make(cache: Path) -> None:
    from kafkaviz.pipeline.spark import session

    java = session.prepare("local[2]", cache)
    if java is None or (archive := _path(cache, java)).exists():
        return
    archive.parent.mkdir(parents=True, exist_ok=True)
    temporary = archive.with_suffix(f".{os.getpid()}")
    base = archive.with_suffix(".base.jsa")
    flags = f"-XX:ArchiveClassesAtExit={temporary} -Xlog:disable"
    if subprocess.run([java, "-Xshare:on", "-version"], capture_output=True).returncode != 0:
        # our archive extends Java's archive of its own classes, which a reduced Java lacks
        subprocess.run([java, "-Xshare:dump", f"-XX:SharedArchiveFile={base}"], check=True)
        flags = f"-XX:SharedArchiveFile={base} {flags}"
    _start_spark(flags)
    if temporary.exists():
        place = archive.stem.partition("-")[0]
        for outdated in archive.parent.glob(f"{place}-*.jsa"):
            if outdated != base:
                outdated.unlink(missing_ok=True)
        temporary.replace(archive)


def _start_spark(flags: str) -> None:
    from pyspark import SparkConf, SparkContext

    from kafkaviz.pipeline.spark import session

    settings = session.with_java_options(session.settings("local[2]"), flags)
    conf = SparkConf().setMaster("local[2]").setAppName("kafkaviz").setAll(list(settings.items()))
    context = SparkContext(conf=conf)
    context.parallelize(range(2), 2).map(str).collect()
    context.stop()
    gateway: Any = SparkContext._gateway
    jvm = gateway.proc
    jvm.stdin.close()  # the JVM writes the archive when it exits
    jvm.wait(STARTED_WITHIN_S)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))

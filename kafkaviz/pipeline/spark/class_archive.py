"""An archive of the classes that Spark loads at its start, which Java maps instead of loading them.

Half of the processor time of a start goes into reading and verifying some ten thousand classes from
Spark's jars. `kafkaviz warm` lets one start write down those it loaded (JEP 350); later ones map
them. Java itself looks whether the archive fits its release and its class path, and goes without
where it does not: so a Java or jars that were installed anew have another archive, and the one
before is removed.
"""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

from kafkaviz.pipeline.spark.java import started_by

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
    """The archive of the Java that this launcher starts, and of the Spark that is installed here.

    Named after where both lie, then after what lies there now.
    """
    import pyspark

    installation = Path(pyspark.__file__).parent
    program = started_by(java)
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
    temporary, base = archive.with_suffix(f".{os.getpid()}"), archive.with_suffix(".base.jsa")
    flags = f"-XX:ArchiveClassesAtExit={temporary} -Xlog:disable"
    if subprocess.run([java, "-Xshare:on", "-version"], capture_output=True).returncode != 0:
        # a trimmed Java comes without an archive of its own classes, on which the other builds
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

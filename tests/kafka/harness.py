"""The real Kafka at the other end of a pipe: one Java process per release."""

import base64
import fcntl
import gzip
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

from tests.support import vectors

FOLDER = Path(__file__).parent
BUILD = FOLDER.parents[1] / "build" / "kafka"
RELEASES = ("4.3.1", "3.9.0")
BROKER_POM = FOLDER / "starts.pom.xml"  # kafka_2.13 alone, because 4.4.0 has no jars of its tests
MIN_ROOM_BYTES = 1 << 30
TIME_LIMIT_S = 600  # of one process or one answer; a whole run takes a minute or two
TOOLS = ("mvn", "java", "javac")
JAVA = (
    *("java", "-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"),
    *("-ea:org.apache.kafka...", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"),
)
Result = TypeVar("Result")


def missing_tool() -> str | None:
    """Returns the first required program that the machine lacks."""
    return next((tool for tool in TOOLS if shutil.which(tool) is None), None)


def class_path(release: str) -> str:
    """Returns the jars of that release, fetched once, and the compiled harness."""
    folders = (FOLDER / "src" / "common", FOLDER / "src" / release)
    sources = [path for folder in folders for path in sorted(folder.glob("*.java"))]
    return fetch_class_path(release, release, FOLDER / "pom.xml", sources)


def fetch_class_path(name: str, release: str, pom: Path, sources: Sequence[Path]) -> str:
    """Returns the jars that a pom.xml lists, fetched by Maven once, and any sources compiled
    against them.

    Args:
        name: the folder that they are compiled into.
    """
    classes = BUILD / name
    compiled = classes / ".compiled"
    jars = BUILD / f"{pom.name.partition('.')[0]}-{release}.classpath"
    if _older(jars, [pom]) or _older(compiled, [*sources, jars]):
        with _alone():
            if _older(jars, [pom]):
                _fetch(release, jars, pom)
            if _older(compiled, [*sources, jars]):
                shutil.rmtree(classes, ignore_errors=True)
                classes.mkdir()
                if sources:
                    options = ["-nowarn", "-d", str(classes), "-cp", jars.read_text()]
                    subprocess.run(["javac", *options, *map(str, sources)], check=True)
                compiled.touch()
    return f"{classes}:{jars.read_text()}"


@contextmanager
def _alone() -> Iterator[None]:
    """Lets one process at a time fetch and compile: all share Maven's repository."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(release: str, jars: Path, pom: Path) -> None:
    command = [
        *("mvn", "-q", "-B", "-Dstyle.color=never", "-Dmaven.wagon.http.retryHandler.count=3"),
        *(f"-Dmaven.repo.local={BUILD / '.m2'}", "-f", str(pom), "dependency:build-classpath"),
        *(f"-Dkafka.version={release}", f"-Dmdep.outputFile={jars}"),
    ]
    fetched = subprocess.run(command, capture_output=True, text=True, check=False)
    if fetched.returncode:
        output = f"{fetched.stdout[-2000:]}{fetched.stderr[-2000:]}"
        raise RuntimeError(f"Maven could not fetch Kafka {release}: {output}")


def _older(target: Path, sources: Sequence[Path]) -> bool:
    return not target.exists() or any(
        source.stat().st_mtime > target.stat().st_mtime for source in sources
    )


def scratch() -> tempfile.TemporaryDirectory:
    """Yields a folder for logs, in memory if possible: Kafka waits for the disk at every roll."""
    memory = Path("/dev/shm")
    has_room = (
        memory.is_dir()
        and os.access(memory, os.W_OK)
        and shutil.disk_usage(memory).free > MIN_ROOM_BYTES
    )
    return tempfile.TemporaryDirectory(prefix="kafkaviz-kafka-", dir=memory if has_room else None)


def ask_once(main: str, question: dict, folder: str | Path) -> str:
    """Returns what a program of 4.3.1 answers to one question; it ends if nobody waits any more."""
    command = [*JAVA, f"-Djava.io.tmpdir={folder}", "-cp", class_path(RELEASES[0]), main]
    done = subprocess.run(
        command,
        input=json.dumps(question),
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{main} ended with status {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def piped(command: Sequence[str], **streams: int) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, **pipes, **streams, text=True)


def run_twice(
    main: str,
    folder: Path,
    between: Callable[[], Result],
    *arguments: str,
    options: Sequence[str] = (),
) -> Result:
    """Lets a broker of 4.3.1 fill its topics and stop, calls `between`, and starts it again."""
    java = [*JAVA, *options, f"-Djava.io.tmpdir={folder}", "-cp", class_path(RELEASES[0])]
    process = piped([*java, main, str(folder), *arguments], stderr=subprocess.DEVNULL)
    try:
        if process.stdout.readline().strip() != "filled":
            raise RuntimeError(f"{main} did not fill its topics")
        result = between()
        process.communicate("\n", timeout=TIME_LIMIT_S)
    finally:
        process.kill()
        process.wait()
    return result


class JavaProcess:
    """A program that answers a JSON object per line; it lives as long as the with block."""

    def __init__(self, main: str, classes: str, *, java: Sequence[str] = JAVA, **streams: int):
        self._temporary = scratch()
        folder = f"-Djava.io.tmpdir={self._temporary.name}"
        self._process = piped([*java, folder, "-cp", classes, main], **streams)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._temporary.cleanup()

    def ask(self, question: dict, time_limit_s: float = TIME_LIMIT_S) -> dict:
        end = threading.Timer(time_limit_s, self._process.kill)
        end.start()
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        finally:
            end.cancel()
        if not line:
            status = self._process.wait(timeout=10)
            raise RuntimeError(f"{self._process.args[-1]} ended with {status} on {question}"[:2000])
        return json.loads(line)


class Kafka(JavaProcess):
    """A running harness of one release; `with Kafka(release) as kafka: kafka.replay(history)`."""

    def __init__(self, release: str):
        super().__init__("Harness", class_path(release))
        self.release = release

    def ask(self, question: dict, time_limit_s: float = TIME_LIMIT_S) -> dict:
        answer = super().ask(question, time_limit_s)
        if "harness_error" in answer:
            raise RuntimeError(f"the harness of Kafka {self.release}: {answer['harness_error']}")
        return answer

    def replay(self, history: dict) -> dict:
        """Returns a line of replays.jsonl.gz with the answers to it."""
        return self.ask({"ask": "replay", **history})

    def recover(self, log: bytes, base_offset: int, settings: dict) -> dict:
        question = {"ask": "recover", "base_offset": base_offset, "settings": settings}
        return self.ask({**question, "log_gz": zipped(log)})

    def load(self, folder: Path, settings: dict, log_start: int, now_ms: int) -> dict:
        """Opens the directory as after a clean stop, reads every record, and closes it."""
        question = {"ask": "load", "dir": str(folder), "settings": settings}
        return self.ask({**question, "log_start": log_start, "now": now_ms})

    def dump(self, *args: str) -> dict:
        return self.ask({"ask": "dump", "args": list(args)})


def zipped(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def content(file: dict | None) -> bytes | None:
    """Returns the bytes of an index file, or None if there was none."""
    return None if file is None else vectors.content(file)

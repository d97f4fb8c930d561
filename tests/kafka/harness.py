"""The real Kafka at the other end of a pipe: one Java process per release."""

import base64
import gzip
import json
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

FOLDER = Path(__file__).parent
BUILD = FOLDER.parents[1] / "build" / "kafka"
RELEASES = ("4.3.1", "3.9.0")
MIN_ROOM_BYTES = 1 << 30
TIME_LIMIT_S = 600  # of one process; a whole run takes a minute or two
TOOLS = ("mvn", "java", "javac")
JAVA = (
    "java",
    "-Xmx768m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xshare:auto",
    "-ea:org.apache.kafka...",
)


def missing_tool() -> str | None:
    """Returns the first required program that the machine lacks."""
    return next((tool for tool in TOOLS if shutil.which(tool) is None), None)


def class_path(release: str) -> str:
    """Returns the jars of that release, fetched once, and the compiled harness."""
    sources = sorted(
        [*(FOLDER / "src" / "common").glob("*.java"), *(FOLDER / "src" / release).glob("*.java")]
    )
    return fetch_class_path(release, release, FOLDER / "pom.xml", sources)


def fetch_class_path(name: str, release: str, pom: Path, sources: list[Path]) -> str:
    """Returns the jars that a pom.xml lists, fetched by Maven once, and any sources compiled
    against them.

    Args:
        name: the folder that they are compiled into.
    """
    classes = BUILD / name
    classpath_file = BUILD / f"{name}.classpath"
    if _older(classpath_file, [pom]):
        BUILD.mkdir(parents=True, exist_ok=True)
        fetched = subprocess.run(
            _maven(release, classpath_file, pom), capture_output=True, text=True, check=False
        )
        if fetched.returncode:
            raise RuntimeError(
                f"Maven could not fetch Kafka {release}: {fetched.stdout[-2000:]}{fetched.stderr[-2000:]}"
            )
    if sources and _older(classes / ".compiled", [*sources, classpath_file]):
        shutil.rmtree(classes, ignore_errors=True)
        classes.mkdir()
        subprocess.run(
            [
                "javac",
                "-nowarn",
                "-d",
                str(classes),
                "-cp",
                classpath_file.read_text(),
                *map(str, sources),
            ],
            check=True,
        )
        (classes / ".compiled").touch()
    return f"{classes}:{classpath_file.read_text()}"


def _maven(release: str, classpath_file: Path, pom: Path) -> list[str]:
    repository = f"-Dmaven.repo.local={BUILD / '.m2'}"
    goal = [
        "dependency:build-classpath",
        f"-Dkafka.version={release}",
        f"-Dmdep.outputFile={classpath_file}",
    ]
    quietly = ["-q", "-B", "-Dstyle.color=never", "-Dmaven.wagon.http.retryHandler.count=3"]
    return ["mvn", *quietly, repository, "-f", str(pom), *goal]


def _older(target: Path, sources: list[Path]) -> bool:
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


class Kafka:
    """A running harness of one release; `with Kafka(release) as kafka: kafka.replay(history)`."""

    def __init__(self, release: str):
        self.release = release
        self._temporary = scratch()
        command = [
            *JAVA,
            f"-Djava.io.tmpdir={self._temporary.name}",
            "-cp",
            class_path(release),
            "Harness",
        ]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._end = threading.Timer(TIME_LIMIT_S, self._process.kill)
        self._end.start()

    def __enter__(self) -> "Kafka":
        return self

    def __exit__(self, *_: object) -> None:
        self._end.cancel()
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._temporary.cleanup()

    def ask(self, question: dict) -> dict:
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"Kafka {self.release} ended with status {self._process.wait(timeout=10)} on "
                f"{question['ask']}"
            )
        answer = json.loads(line)
        if "harness_error" in answer:
            raise RuntimeError(f"the harness of Kafka {self.release}: {answer['harness_error']}")
        return answer

    def replay(self, history: dict) -> dict:
        """Takes `history` as a line of replays.jsonl.gz, with or without its answers; returns the
        answers in the same form.
        """
        return self.ask({"ask": "replay", **history})

    def recover(self, log: bytes, base_offset: int, settings: dict) -> dict:
        return self.ask(
            {
                "ask": "recover",
                "log_gz": zipped(log),
                "base_offset": base_offset,
                "settings": settings,
            }
        )

    def load(self, folder: Path, settings: dict, log_start: int, now_ms: int) -> dict:
        """Opens the directory as a broker does after a clean stop (which may change it), reads
        every record, and closes it.
        """
        return self.ask(
            {
                "ask": "load",
                "dir": str(folder),
                "settings": settings,
                "log_start": log_start,
                "now": now_ms,
            }
        )

    def dump(self, *args: str) -> dict:
        return self.ask({"ask": "dump", "args": list(args)})


def zipped(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def unzipped(text: str) -> bytes:
    return gzip.decompress(base64.b64decode(text))


def content(file: dict | None) -> bytes | None:
    """Returns an index file from the harness's form, which leaves out trailing zeros."""
    if file is None:
        return None
    data = bytes.fromhex(file["hex"]) if "hex" in file else unzipped(file["gz"])
    return data + bytes(file["file_len"] - len(data))

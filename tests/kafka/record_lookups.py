"""python -m tests.kafka.record_lookups: damages small logs, lets Kafka 4.3.1 and 4.4.0 look up
every offset and some timestamps in them, and writes tests/data/damaged_lookups.jsonl.gz.
"""

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.kafka.harness import BUILD, FOLDER, scratch
from tests.search.damaged_logs import make_log

DATA = Path(__file__).parents[1] / "data" / "damaged_lookups.jsonl.gz"
RELEASES = ("4.3.1", "4.4.0")
SEEDS = 160
NOW_MS = 1_790_000_000_000
SOURCES = ("4.3.1/Lookups", "common/IdleScheduler", "common/StillTime")


def main() -> int:
    lines = []
    for release in RELEASES:
        command = ["java", "-Xmx512m", "-cp", class_path(release), "Lookups"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as kafka:
            lines += [_line(kafka, release, seed) for seed in range(SEEDS)]
            kafka.stdin.close()
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    DATA.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{len(lines)} logs, {DATA.stat().st_size} bytes")
    return 0


def class_path(release: str) -> str:
    """Returns the jars of kafka_2.13 alone, because 4.4.0 has no jars of its tests, and Lookups."""
    classes = BUILD / f"lookups-{release}"
    pom = classes / "pom.xml"
    jars = classes / "classpath"
    classes.mkdir(parents=True, exist_ok=True)
    pom.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>kafkaviz</groupId><artifactId>lookups</artifactId><version>1</version>"
        "<packaging>pom</packaging><dependencies><dependency><groupId>org.apache.kafka</groupId>"
        f"<artifactId>kafka_2.13</artifactId><version>{release}</version></dependency>"
        "</dependencies></project>"
    )
    if not jars.exists():
        repository = f"-Dmaven.repo.local={BUILD / '.m2'}"
        goal = ["dependency:build-classpath", f"-Dmdep.outputFile={jars}"]
        subprocess.run(["mvn", "-q", "-B", repository, "-f", str(pom), *goal], check=True)
    sources = [str(FOLDER / "src" / f"{source}.java") for source in SOURCES]
    options = ["-nowarn", "-d", str(classes), "-cp", jars.read_text()]
    subprocess.run(["javac", *options, *sources], check=True)
    return f"{classes}:{jars.read_text()}"


def _line(kafka: subprocess.Popen, release: str, seed: int) -> dict:
    with scratch() as folder, tempfile.TemporaryDirectory(dir=folder) as partitions:
        directory = Path(partitions) / "t-0"
        log = make_log(seed, directory)
        question = {"dir": str(directory), "now": NOW_MS}
        kafka.stdin.write(json.dumps(question | log) + "\n")
        kafka.stdin.flush()
        answer = json.loads(kafka.stdout.readline())
    if "error" in answer:
        return {"release": release, "seed": seed, "start": answer["error"]["class"]}
    answers = {kind: list(map(_short, answer[kind])) for kind in ("offsets", "timestamps")}
    return {"release": release, "seed": seed} | answers


def _short(answer: dict | list | None) -> str | list | None:
    """Returns offset and timestamp, the class of the exception, or None."""
    return answer["class"] if isinstance(answer, dict) else answer


if __name__ == "__main__":
    sys.exit(main())

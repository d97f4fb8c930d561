"""python -m tests.kafka.record_lookups: damages small logs, lets Kafka 4.3.1 and 4.4.0 look up
every offset and some timestamps in them, and writes tests/data/damaged_lookups.jsonl.gz.
"""

import gzip
import json
import sys
import tempfile
from pathlib import Path

from tests.kafka.harness import BROKER_POM, FOLDER, JavaProcess, fetch_class_path, scratch
from tests.search.damaged_logs import make_log

DATA = Path(__file__).parents[1] / "data" / "damaged_lookups.jsonl.gz"
RELEASES = ("4.3.1", "4.4.0")
SEEDS = 160
NOW_MS = 1_790_000_000_000
SOURCES = ("4.3.1/Lookups", "common/IdleScheduler", "common/StillTime")


def main() -> int:
    lines = []
    for release in RELEASES:
        sources = [FOLDER / "src" / f"{source}.java" for source in SOURCES]
        classes = fetch_class_path(f"lookups-{release}", release, BROKER_POM, sources)
        java = ("java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off")
        with JavaProcess("Lookups", classes, java=java) as kafka:
            lines += [_line(kafka, release, seed) for seed in range(SEEDS)]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    DATA.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{len(lines)} logs, {DATA.stat().st_size} bytes")
    return 0


def _line(kafka: JavaProcess, release: str, seed: int) -> dict:
    with scratch() as folder, tempfile.TemporaryDirectory(dir=folder) as partitions:
        directory = Path(partitions) / "t-0"
        log = make_log(seed, directory)
        question = {"dir": str(directory), "now": NOW_MS}
        answer = kafka.ask(question | log)
    if "error" in answer:
        return {"release": release, "seed": seed, "start": answer["error"]["class"]}
    answers = {kind: list(map(_short, answer[kind])) for kind in ("offsets", "timestamps")}
    return {"release": release, "seed": seed} | answers


def _short(answer: dict | list | None) -> str | list | None:
    """Returns offset and timestamp, the class of the exception, or None."""
    return answer["class"] if isinstance(answer, dict) else answer


if __name__ == "__main__":
    sys.exit(main())

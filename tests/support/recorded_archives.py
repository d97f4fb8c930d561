"""The recorded directories of real brokers, by the names of their archives in the shared data/."""

import json
import tarfile
from pathlib import Path

RECORDED_ARCHIVES = (
    *("kafka-2.8.2-legacy", "kafka-3.9.0-follower", "kafka-3.9.0-leader", "kafka-4.3.1-clean"),
    *("kafka-4.3.1-damaged", "kafka-4.3.1-killed", "kafka-4.3.1-killed-restarted"),
    *("kafka-4.3.1-unstartable", "kafka-4.4.0-clean", "kafka-4.4.0-killed"),
    "kafka-4.4.0-killed-restarted",
)


def expected_lines(shared: Path, archive: str, file: str) -> list[dict]:
    """Returns the JSON lines of a file of Kafka's answers about an archive."""
    with tarfile.open(shared / "data" / f"{archive}.expected.tar.gz") as expected:
        names = [name for name in expected.getnames() if name.endswith(f"/{file}")]
        return [json.loads(line) for name in names for line in expected.extractfile(name)]

"""python -m tests.kafka.record_remote_segments: asks RemoteLogMetadataCache for offsets."""

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path

from tests.kafka.harness import JAVA, RELEASES, class_path

RECORDED = Path(__file__).parents[1] / "data" / "remote_segments.jsonl.gz"
HISTORIES = 400
MAIN = "org.apache.kafka.server.log.remote.metadata.storage.RemoteSegments"
STATES = (
    *("COPY_SEGMENT_FINISHED", "COPY_SEGMENT_FINISHED", "COPY_SEGMENT_FINISHED"),
    *("DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED"),
)


def main() -> int:
    histories = [_history(random.Random(seed)) for seed in range(HISTORIES)]
    command = [*JAVA, "-cp", class_path(RELEASES[0]), MAIN]
    lines = "".join(f"{json.dumps(history)}\n" for history in histories)
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    answers = map(json.loads, done.stdout.splitlines())
    recorded = [
        json.dumps(history | {"answers": answer})
        for history, answer in zip(histories, answers, strict=True)
    ]
    RECORDED.write_bytes(gzip.compress("\n".join(recorded).encode(), mtime=0))
    print(f"{RECORDED.name}: {RECORDED.stat().st_size} bytes")
    return 0


def _history(rng: random.Random) -> dict:
    """Returns overlapping segments of several leaders, their states, and offsets."""
    events: list[dict] = []
    count = rng.randint(1, 7)
    for segment in range(count):
        start = rng.randrange(0, 60, 5)
        end = start + rng.randint(0, 50)
        epoch, offset, epochs = rng.randint(0, 2), start, {}
        while offset <= end and len(epochs) < 3:
            epochs[str(epoch)] = offset
            epoch, offset = epoch + rng.randint(1, 2), offset + rng.randint(1, 25)
        events.append({"segment": segment, "start": start, "end": end, "epochs": epochs})
        events += [
            {"segment": rng.randint(0, segment + (rng.random() < 0.1)), "state": rng.choice(STATES)}
            for _ in range(rng.randint(1, 3))
        ]
    queries = [[epoch, offset] for epoch in range(6) for offset in range(0, 110, 7)]
    return {"events": events, "queries": queries}


if __name__ == "__main__":
    sys.exit(main())

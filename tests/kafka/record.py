"""python -m tests.kafka.record: writes Kafka's answers into tests/data/histories.jsonl.gz."""

import gzip
import json
import sys
from pathlib import Path

from kafkaviz import versions
from kafkaviz.format import batch
from kafkaviz.simulate.config import log_config, release_behaviour
from kafkaviz.simulate.producers.streams import chunks
from kafkaviz.simulate.producers.workload import preset
from tests.kafka import checks
from tests.kafka.harness import RELEASES, Kafka
from tests.kafka.random_histories import history, line_of
from tests.simulate.replay_vectors import incoming, settings
from tests.support.vectors import unpacked

HISTORIES = Path(__file__).parents[1] / "data" / "histories.jsonl.gz"
SEEDS = 300
MAX_BYTES = 290_000


def main() -> int:
    """Writes Strimzi's example, then histories of which each shows something new."""
    lines = []
    for release in RELEASES:
        with Kafka(release) as kafka:
            histories = [_strimzi(release), *(history(seed, release) for seed in range(SEEDS))]
            lines += [checks.recorded(question, kafka.replay(question)) for question in histories]
    varied = _varied(lines)
    packed = _packed(varied)
    HISTORIES.write_bytes(packed)
    print(f"{len(varied)} of {len(lines)} histories, {len(packed)} bytes")
    return 0


def _strimzi(release: str) -> dict:
    """An index of 300 bytes and batches of one record: the time index is full at 24 entries."""
    flow = preset("strimzi")
    settings = dict(flow.settings)
    config = log_config(settings, versions.parse(release))
    chunk = next(
        chunks(flow, config, release_behaviour(versions.parse(release)), batches_per_chunk=120)
    )
    settings = {name: str(value) for name, value in settings.items()}
    settings |= {"retention.ms": "-1", "message.timestamp.after.max.ms": str(2**63 - 1)}
    data = bytes(chunk.data)[: int(chunk.rows["size_bytes"].sum())]
    return {"id": f"{release}-strimzi"} | line_of(
        chunk.rows, data, release, settings, flow.start_ms, flow.is_leader
    )


def _varied(lines: list[dict]) -> list[dict]:
    """Returns the published examples, then the lines with the most new features for their size."""
    chosen = [line for line in lines if line["id"].endswith("strimzi")]
    left = [(line, _features(line), len(json.dumps(line))) for line in lines if line not in chosen]
    covered: set[tuple] = set()
    while left:
        best = max(left, key=lambda candidate: len(candidate[1] - covered) / (candidate[2] + 5000))
        if not best[1] - covered or len(_packed([*chosen, best[0]])) > MAX_BYTES:
            return chosen
        chosen.append(best[0])
        covered |= best[1]
        left.remove(best)
    return chosen


def _features(line: dict) -> set[tuple]:
    """Returns the features that a history shows, each with its release and its role."""
    line_settings, features = line["settings"], set()
    for name in (
        *("segment.index.bytes", "index.interval.bytes", "segment.ms", "preallocate"),
        *("message.timestamp.type", "cleanup.policy"),
    ):
        features.add((name, str(line_settings.get(name))))
    for step in line["steps"]:
        features |= {(step["op"],), ("error", step.get("error", {}).get("class"))}
        features |= {("rolled", "rolled" in step), ("again", "recreated" in step)}
    for row in incoming(unpacked(line["appended_gz"]), 0, 0):
        features |= {
            ("codec", int(batch.codec(row)), int(row["magic"])),
            ("kind", int(row["attributes"]) & 0x30),
        }
    for state in [line.get("final_closed", {}), *(step.get("state", {}) for step in line["steps"])]:
        features |= {("aborted", "txnindex" in segment) for segment in state.get("segments", [])}
    config = log_config(settings(line_settings), versions.parse(line["version"]))
    features.add(("slots", config.time_slots < 2))
    return {(line["version"], line["mode"], *feature) for feature in features}


def _packed(lines: list[dict]) -> bytes:
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return gzip.compress(text.encode(), mtime=0)


if __name__ == "__main__":
    sys.exit(main())

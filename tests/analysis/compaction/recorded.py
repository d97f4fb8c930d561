"""The decisions and cleanings that Kafka's own classes recorded, as broker directories."""

from functools import cache
from pathlib import Path

from kafkaviz.analysis.checks.plan import cleaner_offsets, plan_check
from kafkaviz.analysis.compaction.compaction import CleanerMap, DecidedLog, clean_log, decide_log
from kafkaviz.analysis.compaction.decision import (
    CleaningDecision,
    CompactionRules,
    LogState,
    decide,
    read_log_state,
)
from kafkaviz.format import checkpoint
from kafkaviz.log.broker import open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import open_settings
from kafkaviz.simulate.cleaner.cleaner import Cleaning
from kafkaviz.units import DAY_MS
from kafkaviz.versions import parse
from tests.support.vectors import json_lines, unpacked

DATA = Path(__file__).parents[2] / "data"


@cache
def lines() -> list[dict]:
    return json_lines(DATA / "compactions.jsonl.gz")


def write_broker(line: dict, folder: Path) -> Path:
    """Writes the log directory that a line began with, and returns it."""
    partition = folder / "{topic}-{partition}".format(**line)
    partition.mkdir(parents=True)
    for name, packed in line["files"].items():
        (partition / name).write_bytes(unpacked(packed))
    key = (line["topic"], line["partition"])
    for name, offset in (
        ("replication-offset-checkpoint", line["high_watermark"]),
        ("log-start-offset-checkpoint", line["log_start"]),
    ):
        (folder / name).write_bytes(checkpoint.build_offsets({key: offset}))
    (folder / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=c\n")
    (folder / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')
    if line["checkpoint_before"] is not None:
        (folder / "cleaner-offset-checkpoint").write_text(line["checkpoint_before"])
    return folder


def overrides(line: dict) -> dict[str, str]:
    return {name: str(value) for name, value in line["settings"].items()}


def decide_recorded(line: dict, partition: Partition) -> tuple[LogState, CleaningDecision]:
    """Returns the state of a line's log, and what is decided about it."""
    state = read_log_state(partition, now_ms=line["now"], producer_expiration_ms=DAY_MS)
    settings = line["settings"]
    rules = CompactionRules(
        min_cleanable_dirty_ratio=settings["min.cleanable.dirty.ratio"],
        min_compaction_lag_ms=settings["min.compaction.lag.ms"],
        max_compaction_lag_ms=settings["max.compaction.lag.ms"],
    )
    return state, decide(state.facts, line["checkpointed"], rules, line["now"])


def open_recorded(line: dict, folder: Path) -> Partition:
    return open_broker(write_broker(line, folder / line["id"])).partitions[0]


def clean_recorded(line: dict, folder: Path) -> tuple[DecidedLog, Cleaning]:
    """Returns the log of a line with its decision, and the result of one cleaning."""
    broker = open_broker(write_broker(line, folder / line["id"]))
    settings = open_settings(broker, parse(line["version"]), overrides(line))
    plan = plan_check(broker, line["version"], line["now"], settings=settings)
    [partition] = plan.partitions
    checkpointed = cleaner_offsets(broker).get(("t", 0))
    log = decide_log(plan, partition, checkpointed=checkpointed)
    cleaner = line["cleaner"]
    map_size = CleanerMap(
        size_bytes=cleaner["offset_map_bytes"], load_factor=cleaner["load_factor"], threads=1
    )
    return log, clean_log(plan, log, map_size)

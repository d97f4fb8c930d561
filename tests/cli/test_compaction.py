"""kafkaviz compaction: its JSON against Kafka's recorded decisions and cleanings, its text, its errors."""

import pytest

from tests.analysis.compaction.recorded import lines, overrides, write_broker
from tests.conftest import SAMPLES
from tests.support.cases import all_cases
from tests.support.commands import json_of, refusal_of, text_of

LINES = [line for line in lines() if not line["damage"]]


def run(line: dict, folder, *options: str) -> list[str]:
    names = [f"--set={name}={value}" for name, value in overrides(line).items()]
    return [
        "compaction",
        str(write_broker(line, folder / line["id"])),
        f"--now={line['now']}",
        f"--map-bytes={line['cleaner']['offset_map_bytes']}",
        f"--load-factor={line['cleaner']['load_factor']}",
        f"--kafka-version={line['version']}",
        *names,
        *options,
    ]


@all_cases("line", LINES, ids=lambda line: line["id"])
def test_the_json_is_what_kafka_did(line, tmp_path):
    result = json_of(*run(line, tmp_path))
    [partition] = result["partitions"]
    report = line["report"]
    names = set(report) - {"total_bytes", "checkpoint_after_decision"}
    assert {name: partition[name] for name in names} == {name: report[name] for name in names}
    assert result["order"] == (["t-0"] if report["eligible"] else [])
    if not report["eligible"]:
        assert partition["cleaned"] is None
        return
    cleaned = partition["cleaned"]
    assert cleaned["removed"] == line["cleaned"]["removed"]
    assert cleaned["next_first_dirty_offset"] == line["cleaned"]["next_first_dirty_offset"]
    assert cleaned["bytes_freed"] == cleaned["bytes_before"] - cleaned["bytes_after"]
    assert len(cleaned["tombstones_left"]) == cleaned["tombstone_records"]


def test_a_damaged_batch_stops_the_cleaner(tmp_path):
    line = next(line for line in lines() if "cleaning_error" in line)
    [partition] = json_of(*run(line, tmp_path))["partitions"]
    assert partition["eligible"]
    assert partition["cleaned"] is None
    assert partition["error"] == "{class}: {message}".format(**line["cleaning_error"])


def test_a_small_map_needs_more_cleanings(tmp_path):
    line = next(line for line in lines() if line["kind"] == "small-map" and "cleaned" in line)
    keys = len(line["cleaned"]["map"])
    command = run(line, tmp_path, "--map-bytes=240", "--load-factor=1")
    [partition] = json_of(*command)["partitions"]
    assert partition["cleaned"]["map_keys"] == 10
    assert partition["cleaned"]["passes"] >= keys / 10


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_text_names_the_log_and_the_limit(language, tmp_path):
    line = next(line for line in lines() if line["id"] == "4.4.0-compact-24-1")
    text = text_of("--language", language, *run(line, tmp_path))
    assert "t-0" in text
    assert "64" in text


def test_logs_with_only_an_active_segment_share_a_line():
    lines = text_of("compaction", SAMPLES / "kafka-4.3.1-clean.tar.gz").splitlines()
    assert [line for line in lines if "__consumer_offsets" in line] == [
        "__consumer_offsets: not taken, because 3 partitions have only the active segment: 0, 1, 2"
    ]


def test_a_partition_that_is_not_compacted_is_one_error(data):
    error = refusal_of("compaction", data / "kafka-4.3.1" / "nulls-0")
    assert "cleanup.policy=compact" in error


@pytest.mark.parametrize("option", ["--map-bytes=23", "--load-factor=0", "--load-factor=x"])
def test_a_map_that_takes_no_key_is_refused(option, data):
    assert refusal_of("compaction", data / "kafka-4.3.1", option)

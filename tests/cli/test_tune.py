"""kafkaviz tune: the sample's partitions, made-up workloads, and the object that it prints."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost import calibration
from kafkaviz.log.broker import open_broker
from tests.conftest import SAMPLES
from tests.support.commands import json_of, refusal_of, text_of
from tests.support.tuning import sweep_times

QUICK = ("--seconds", "0")  # for what does not need the answers on batches and codec
EVERY_BATCH = (
    "already indexes every batch but a segment's first: no smaller interval can add an entry"
)
WORKLOAD = """
topic = "orders"
[[phase]]
batches = {batches}
batches_per_s = 100
records_per_batch = {records}
value_bytes = {bytes}
"""


@pytest.fixture(autouse=True)
def no_calibration(cache):
    calibration.calibration_path().unlink(missing_ok=True)


def tuned(source: object, *options: str) -> dict:
    return json_of("tune", *QUICK, source, *options)


@pytest.fixture(scope="module")
def clean_answer(clean) -> dict:
    return tuned(clean)


def workload(folder: Path, **how: int) -> Path:
    path = folder / "made.toml"
    path.write_text(WORKLOAD.format(**how))
    return path


def test_batches_of_16_kb_keep_the_default(tmp_path):
    result = tuned(workload(tmp_path, batches=3000, records=16, bytes=1000))
    answer = result["recommendation"]
    assert result["source"]["batch_bytes_mean"] > 16_000
    expected = {"verdict": "keep", "setting": "index.interval.bytes", "value": 4096}
    assert answer.items() >= expected.items()
    assert answer["because"][0].startswith("the default 4096 already indexes every batch")
    batches, segments = (result["source"][name] for name in ("batches", "segments"))
    assert result["current"]["entries"] == batches - segments


def test_batches_of_16_kb_that_were_written_keep_the_default(tmp_path, capsys):
    """From a workload to a directory to the answer, in text."""
    path = workload(tmp_path, batches=600, records=16, bytes=1000)
    text_of("simulate", path, "--out", tmp_path / "large")
    lines = text_of("tune", *QUICK, tmp_path / "large" / "orders-0").splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("  index "))
    assert lines[place].startswith("  index      keep index.interval.bytes = 4096 (")
    assert lines[place + 1] == f"  because    the default 4096 {EVERY_BATCH}"


def test_where_every_batch_of_the_sample_is_indexed_it_says_so(clean, clean_answer):
    """dense-index at its interval 0; of each other topic some batch is below its interval."""
    assert tuned(clean / "dense-index-0")["recommendation"]["because"][0] == f"0 {EVERY_BATCH}"
    for topic in clean_answer["topics"]:
        is_above = (topic["batch_bytes_least"] or 0) > topic["index.interval.bytes"]
        is_indexed = is_above and topic["batches"] > topic["segments"]
        assert (EVERY_BATCH in " ".join(topic["because"])) == is_indexed, topic["topic"]


def test_the_samples_orders_keep_the_default(clean):
    """Batches of some 16 KB before compression: four of five are indexed."""
    answer = tuned(clean / "orders")
    assert answer["source"]["kind"] == "topic" and answer["source"]["partitions"] == 3
    assert answer["recommendation"]["verdict"] == "keep"
    reason = answer["recommendation"]["because"][0]
    assert "the default 4096 already indexes 483 of the 594 batches" in reason
    current, counts = answer["current"], {"offset_entries": 483, "time_entries": 485}
    assert current["replayed"] == current["on_disk"] == counts


def test_tiny_batches_get_a_value_a_gain_and_what_it_would_not_fix(clean):
    """40 000 batches of one record: the value, its gain, the command, and that batching helps."""
    result = tuned(clean / "heartbeat-0", "--budget", "p99=15us")
    answer = result["recommendation"]
    assert (answer["verdict"], answer["value"]) == ("change", 256)
    gain = answer["gain"]["p99_us"]
    assert 0 < gain["low"] < gain["typical"] < gain["high"]
    assert "Larger batches would cut both" in answer["not_fixed"][0]
    assert answer["command"].endswith(
        "--entity-type topics --entity-name heartbeat --add-config index.interval.bytes=256"
    )
    assert "segments created after the change" in answer["reaches"]
    assert result["costs"]["modelled"] and result["kafka_version"]["assumed"] == "4.3.1"


def test_what_fifty_microseconds_allow_is_recommended(clean):
    """With the usual budget 2048 would gain some 19 µs, and costs half a per cent of the log."""
    answer = tuned(clean / "heartbeat-0")["recommendation"]
    assert (answer["verdict"], answer["value"], answer["considered"]) == ("keep", 4096, 2048)
    less = "with 2048, the p99 lookup takes 19 µs (10 to 42 µs) less"
    assert answer["because"][-1].startswith(less)


@pytest.mark.parametrize(
    ("name", "budgets", "nearest"),
    [
        (
            "heartbeat-0",
            ["p99=1us"],
            "64 comes nearest, and with it the p99 lookup takes 5.6 µs at worst, above the budget of 1.0",
        ),
        ("orders-0", ["p99=5us", "index=0.1%"], "8192 comes nearest"),
    ],
)
def test_what_cannot_be_met_is_reported(name, budgets, nearest, clean):
    options = [f"--budget={budget}" for budget in budgets]
    answer = tuned(clean / name, *options)["recommendation"]
    assert (answer["verdict"], answer["value"], answer["meets_budgets"]) == ("keep", 4096, False)
    words = f"no interval meets every budget: {nearest}"
    assert any(words in reason for reason in answer["because"])


def test_an_index_that_may_be_small_is_not_missing(clean):
    """The smallest interval that fits, with entries left."""
    document = tuned(clean / "orders-0", "--budget", "p99=none", "--budget", "index=0.01%")
    answer = document["recommendation"]
    assert (answer["verdict"], answer["value"]) == ("change", 262_144)
    assert answer["proposed"]["entries"] > 0 and answer["proposed"]["index_share"] <= 0.0001


def test_the_sweep_is_that_of_the_library(clean):
    """The same columns and intervals as in the library, summed over all segments."""
    costs = tuned(clean / "payments-0")["sweep"]
    segments = [segment.batches() for segment in open_broker(clean).partition("payments-0").live]
    expected = sweep.sweep(segments, by_base_offset=True)
    assert [list(row) for row in costs] == [list(sweep.SWEEP.names)] * len(expected)
    assert [tuple(row.values()) for row in costs] == expected.tolist()


def test_lookups_are_grouped_by_what_they_look_for(clean):
    """A batch's first offset, any offset, and a timestamp: today and at the considered interval."""
    answer = tuned(clean / "payments-0")
    segments = [segment.batches() for segment in open_broker(clean).partition("payments-0").live]
    expected = {
        "base_offset": sweep.sweep(segments, [4096], by_base_offset=True)[0],
        "every_offset": sweep.sweep(segments, [4096], targets=sweep.EVERY, by_base_offset=True)[0],
        "timestamp": sweep_times(segments, [4096]).sweep()[0],
    }
    by_target = answer["current"]["by_target"]
    assert by_target.keys() == expected.keys()
    for name, row in expected.items():
        assert by_target[name]["headers_p99"] == row["headers_p99"]
    mean = expected["timestamp"]["headers_mean"]
    assert by_target["timestamp"]["headers_mean"] == pytest.approx(mean)
    assert set(answer["recommendation"]["proposed"]["by_target"]) == set(expected)


def test_a_log_alone_and_an_interval_that_no_setting_tells(clean, tmp_path):
    """Copied without its broker directory, the interval is inferred from its entries."""
    shutil.copytree(clean / "sparse-index-0", tmp_path / "sparse-index-0")
    answer = tuned(next((tmp_path / "sparse-index-0").glob("*.log")))
    assert answer["source"]["kind"] == "log"
    assert answer["current"]["index.interval.bytes"] == 65_536
    assert answer["current"]["interval_source"].startswith("inferred from the entries, between ")
    answer = tuned(tmp_path / "sparse-index-0", "--set", "log.index.interval.bytes=1000")
    assert answer["current"]["index.interval.bytes"] == 1000


def test_a_broker_shows_each_topic(clean_answer):
    answer = clean_answer
    expected = {"verdict": "keep", "setting": "log.index.interval.bytes"}
    assert answer["recommendation"].items() >= expected.items()
    topics = {topic["topic"]: topic for topic in answer["topics"]}
    assert topics["dense-index"]["verdict"] == "change" and topics["orders"]["verdict"] == "keep"
    assert answer["metadata_left_out"] and "__cluster_metadata" not in topics
    assert topics["sparse-index"]["index.interval.bytes"] == 65_536
    assert answer["source"]["batches"] == sum(topic["batches"] for topic in answer["topics"])


def test_preallocated_bytes_are_distinguished_from_used_ones(killed, clean):
    """A killed broker's indexes are preallocated; a clean stop trims them."""
    dirty, trimmed = (tuned(broker / "append-time-0")["footprint"] for broker in (killed, clean))
    assert dirty["apparent_bytes"] == dirty["preallocated_bytes"] == 65_536 + 65_532
    assert dirty["allocated_bytes"] < 20_000
    assert trimmed["apparent_bytes"] < 4096
    assert trimmed["preallocated_bytes"] == 10_485_760 + 10_485_756
    assert (dirty["files"], dirty["maps"], dirty["maps_left"]) == (3, 2, 65_530 - 1000 - 2)


def test_a_partition_in_an_archive():
    archive = SAMPLES / "kafka-4.3.1-killed-selection.tar.gz"
    assert tuned(archive / "weblogs-0")["source"]["kind"] == "partition"
    assert tuned(archive / "weblogs")["source"]["kind"] == "topic"


def test_what_if():
    what_if = tuned("heartbeat", "--what-if", "segment.bytes=1048576")["what_if"]
    assert what_if["today"]["rolls"] == {"time": 4} and what_if["changed"]["rolls"]["size"] == 8
    assert what_if["changed"]["segments"] == 9 and what_if["changed"]["maps"] == 18
    assert what_if["today"]["log_bytes"] == what_if["changed"]["log_bytes"]


def test_what_if_of_a_real_partition_is_what_lies_there(clean):
    """With its own settings, and segment.bytes from its rolls: the same segments and entries."""
    assert not (clean / "server.properties").exists()
    answer = tuned(clean / "payments-0", "--what-if", "index.interval.bytes=65536")
    today = answer["what_if"]["today"]
    assert today["segments"] == answer["source"]["segments"]
    assert today.items() >= answer["current"]["on_disk"].items()
    assert answer["what_if"]["changed"]["offset_entries"] < 40


def test_budgets(clean):
    """More allowed: keep; less: lower, unless today's may meet it."""
    for budget, value in (("25us", 4096), ("15us", 256), ("p99=none", 4096), ("p99=0.2ms", 4096)):
        answer = tuned(clean / "heartbeat-0", "--budget", budget)["recommendation"]
        assert answer["value"] == value, budget


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--budget=p98=1us"], "'p98' is not a budget; the budgets are p99, index"),
        (
            ["--budget=p99=fast"],
            "'fast' is not an amount of p99; give an amount such as 50us, or none",
        ),
        (["--budget=index=3"], "'3' is not an amount of index; give an amount such as 1%, or none"),
        (["--seconds", "-1"], "'-1' is not a number of seconds from 0 to 3600"),
        (["--fetches", "9"], "unrecognized arguments: --fetches 9"),
        (["--set", "no.such.setting=1"], "no.such.setting"),
        (["--set", "segment.index.bytes=4"], "IllegalArgumentException: Invalid max index size: 4"),
        (["--what-if", "retention.ms=1"], "has no effect on the written files"),
        (["--kafka-version", "9.9"], "Kafka 9.9 is not a known release"),
    ],
)
def test_what_is_wrong_is_one_line(options, words):
    assert words in refusal_of("tune", "heartbeat", *options)


def test_what_kafka_refuses_of_a_partition_is_refused(clean):
    """In its words, as --what-if prints them; without room for a time entry each append rolls."""
    tune = ("tune", *QUICK, clean / "heartbeat-0", "--set")
    assert refusal_of(*tune, "segment.index.bytes=4") == (
        "kafkaviz: heartbeat-0: java.lang.IllegalArgumentException: Invalid max index size: 4\n"
    )
    words = "each append starts a segment, because its time index has no room for an entry"
    assert words in text_of(*tune, "segment.index.bytes=12")


def test_a_path_that_is_not_there(tmp_path):
    path = tmp_path / "nowhere"
    assert refusal_of("tune", path).startswith(f"kafkaviz: {path}: ")


def test_a_partition_without_a_batch(clean):
    answer = tuned(clean / "empty-room-1")
    assert answer["recommendation"]["verdict"] == "keep"
    assert "empty" in answer["recommendation"]["because"][0]
    assert answer["sweep"][0]["headers_mean"] is None
    assert text_of("tune", *QUICK, clean / "empty-room-1")


def test_help_names_every_key(clean_answer, capsys):
    keys = set(_keys(clean_answer))
    keys |= set(_keys(tuned("follower", "--what-if", "segment.bytes=1048576")))
    with pytest.raises(SystemExit):
        main(["tune", "--help"])
    words = set(re.findall(r"[\w.]+\w", capsys.readouterr().out))
    assert keys - words == set()


def _keys(value) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (key for key in value if key != "changing")
        parts = [value[key] for key in value if key not in ("changing", "rolls", "skipped")]
    else:
        parts = value if isinstance(value, list) else []
    for part in parts:
        yield from _keys(part)


def test_nothing_is_written(clean, fingerprint):
    before = fingerprint(clean / "weblogs-0")
    tuned(clean / "weblogs-0", "--what-if", "segment.bytes=1048576")
    assert fingerprint(clean / "weblogs-0") == before


def test_a_name_that_is_nothing_lists_the_workloads():
    words = "neither a file nor one of the workloads that come with kafkaviz: heartbeat, orders"
    assert words in refusal_of("tune", "no-such-workload")


def test_one_thing_is_counted_as_one(clean):
    assert " of .log in 1 segment, as Kafka" in text_of("tune", *QUICK, clean / "nulls-0")


def test_each_index_size_is_in_the_object(clean):
    """The effect of a full index of 300 B and the default; none for a broker or a .log."""
    partition = clean / "tiny-index-0"
    result = tuned(partition)
    by_size = {size["segment_index_bytes"]: size for size in result["index_size_sweep"]}
    today, large = by_size[300], by_size[16 << 20]
    assert result["current"]["segment.index.bytes"] == 300
    assert (today["offset_slots"], today["usable_time_slots"]) == (37, 24)
    assert (today["rolls"], today["segment_log_bytes"]) == ({"time-index-full": 29}, 5831)
    assert (today["offset_entries"], today["time_entries"]) == (24, 24)
    assert (today["warm_tail_probes"], large["warm_tail_probes"]) == (6, 12)
    assert (today["cold_index_reads"], large["plain_tail_probes"]) == (1, 20)
    assert large["rolls"] == {"time": 1}
    assert large["rolls_per_gib"] == pytest.approx(2**30 / large["segment_log_bytes"])
    assert today["cold_mean_us"]["typical"] < large["cold_mean_us"]["typical"]
    assert tuned(partition / f"{0:020}.log")["index_size_sweep"] is None


def test_the_values_of_a_reason_have_the_names_that_help_says(clean, capsys):
    with pytest.raises(SystemExit):
        main(["tune", "--help"])
    promised = set(re.findall(r"\w+", capsys.readouterr().out.partition("Values in reasons:")[2]))
    reasons = tuned(clean / "dense-index-0")["recommendation"]["reasons"]
    names = {name for reason in reasons for name in reason} - {"code"}
    assert {"of", "entries"} <= names <= promised


def test_an_unknown_interval_is_not_said_to_be_kept(disks):
    """For a directory without the metadata log the assumption is named, also in the JSON."""
    names = ["index.interval.bytes", "segment.bytes", "segment.index.bytes", "segment.ms"]
    for path in (disks / "disk-b", disks / "disk-b" / "audit-1"):
        text = " ".join(text_of("tune", *QUICK, path).split())
        assert "keep index.interval.bytes" not in text
        assert "index.interval.bytes is unknown; assuming 4096, no change is proposed" in text
        assert "assumed segment.bytes = 1073741824, " in text
        assert "the metadata log is not in an opened log directory; Kafka's default is" in text
        answer = json_of("tune", *QUICK, path)
        assert answer["current"]["unknown"] == names
        assert answer["recommendation"]["today_known"] is False
        assert all(topic["unknown"] == names for topic in answer.get("topics", ()))
    answer = json_of("tune", *QUICK, disks)
    assert (answer["current"]["unknown"], answer["recommendation"]["today_known"]) == ([], True)
    typed = ("--set", "log.index.interval.bytes=4096")
    text = text_of("tune", *QUICK, disks / "disk-b", *typed)
    assert "keep log.index.interval.bytes = 4096" in text

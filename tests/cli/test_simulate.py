"""kafkaviz simulate: directories that the other commands open, replays of real logs, and refusals."""

import hashlib
import json
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest

import kafkaviz as kv
from kafkaviz.__main__ import main
from kafkaviz.cli.simulate import pace
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.simulate.appends import INCOMING, AppendChunk
from kafkaviz.simulate.producers.workload import PRESETS
from tests.support.commands import json_of, refusal_of, text_of

QUICK = """
topic = "quick"
[settings]
"internal.segment.bytes" = 20000
"index.interval.bytes" = 500
[[phase]]
duration = "5min"
records_per_s = 300
records_per_batch = 3
"""
INDEXES = (".index", ".timeindex", ".txnindex")


@pytest.fixture
def quick(tmp_path) -> Path:
    path = tmp_path / "quick.toml"
    path.write_text(QUICK)
    return path


def simulated(out: Path, *options: str) -> dict:
    report = json_of("simulate", "--out", out, *options)
    [folder] = [path for path in out.iterdir() if path.is_dir()]
    for segment in report["segments"]:
        assert segment["files"] == {name: digest(folder / name) for name in segment["files"]}
        assert len(segment["files"]) >= 3
    return report


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digests(folder: Path, suffixes: Collection[str] = INDEXES) -> dict[str, str]:
    return {path.name: digest(path) for path in folder.iterdir() if path.suffix in suffixes}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["orders", "heartbeat", "iot", "strimzi"])
def test_what_is_simulated_is_what_a_rebuild_builds(name, tmp_path):
    """With the same settings a 4.3.1 leader without a restart leaves the indexes of a recovery."""
    report = simulated(tmp_path / "kafka", name)
    [folder] = [path for path in (tmp_path / "kafka").iterdir() if path.is_dir()]
    rebuild = json_of("rebuild", folder, "--out", tmp_path / "rebuilt")
    assert digests(tmp_path / "rebuilt") == digests(folder)
    keys = ("base_offset", "log_bytes", "offset_entries", "time_entries")
    assert [[segment[key] for key in keys] for segment in rebuild["segments"]] == [
        [segment[key] for key in keys] for segment in report["segments"]
    ]


def test_every_other_command_opens_it(tmp_path, capsys):
    """check ends with 0, lookup finds a record by its offset and its time, dump reports nothing."""
    simulated(tmp_path / "kafka", "orders")
    folder = tmp_path / "kafka" / "orders-0"
    text_of("check", tmp_path / "kafka", "--fail-on", "warning")
    record = json_of("lookup", folder, "--offset", "12345")["record"]
    assert record["offset"] >= 12345
    answer = json_of("lookup", folder, "--timestamp", record["timestamp_ms"])["answer"]
    assert answer["timestamp_ms"] >= record["timestamp_ms"]
    assert main(["dump", *map(str, sorted(folder.glob("*index"))), "--verify-index-only"]) == 0
    assert "Mismatches" not in capsys.readouterr().err


def test_the_published_example_comes_out(tmp_path):
    """Strimzi's: the time index is full at 24 entries, offsets 0 to 48 in the first segment."""
    report = simulated(tmp_path / "kafka", "strimzi")
    first, roll = report["segments"][0], report["events"][0]
    assert first.pop("files") and first == {
        "base_offset": 0,
        "log_bytes": 5831,
        "offset_entries": 24,
        "time_entries": 24,
        "roll_reason": "time-index-full",
    }
    expected = {
        "event": "roll",
        "segment": 0,
        "offset": 49,
        "cause": "time-index-full",
        "found": 24,
    }
    assert roll.items() >= expected.items()
    folder = tmp_path / "kafka" / "my-topic-0"
    assert (folder / f"{0:020}.index").stat().st_size == 192
    assert (folder / f"{0:020}.timeindex").stat().st_size == 288
    assert report["events"][-1]["event"] == "close"
    assert report["segments"][-1]["roll_reason"] is None


def test_the_words_have_a_line_a_segment(tmp_path, capsys):
    first, *_, last = text_of("simulate", "strimzi", "--out", tmp_path / "kafka").splitlines()
    assert first == (
        f"{0:020}  5831 bytes of .log: 24 offset entries, 24 time entries; rolled by "
        "time-index-full: 24 of 24 usable slots"
    )
    assert last.startswith("28 files of my-topic-0, offsets 0 to 199, written into ")
    assert capsys.readouterr().err == (
        "writing as Kafka 4.4.0 does it, with index.interval.bytes = 150, segment.index.bytes = "
        "300\n"
    )


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("nulls-0", ()),
        ("epoch-zero-0", ()),
        ("tiny-index-0", ("--set=index.interval.bytes=150", "--set=segment.index.bytes=300")),
    ],
)
def test_a_real_partition_is_replayed_to_the_byte(data, tmp_path, name, settings):
    """A 4.3.1 leader without a restart wrote it: roll points and bytes are the same."""
    own = data / "kafka-4.3.1" / name
    options = ("--kafka-version", "4.3.1", *settings)
    assert simulated(tmp_path / "out", "--replay", own, *options)["differing"] == []
    suffixes = (".log", *INDEXES)
    assert digests(tmp_path / "out" / name, suffixes) == digests(own, suffixes)
    assert len(digests(own)) > 1


def test_partitions_of_the_clean_directory_are_replayed_to_the_byte(clean, tmp_path):
    """Their rolls give segment.bytes of 1 MiB, since the server.properties is missing;
    transactions, snapshots and epochs are equal too.
    """
    for name in (
        "orders-0",
        "heartbeat-0",
        "payments-0",
        "clicks-zstd-0",
        "refunds-0",
        "tiny-index-0",
        "rolls-by-time-0",
    ):
        own, again = clean / name, tmp_path / name / name
        assert simulated(tmp_path / name, "--replay", own)["differing"] == []
        assert digests(again) == digests(own), name
        snapshots = [path.name for path in own.glob("*.snapshot")]
        assert snapshots
        for other in (*snapshots, "leader-epoch-checkpoint"):
            assert (again / other).read_bytes() == (own / other).read_bytes(), name


def test_a_log_that_the_cleaner_rewrote_is_reported(clean, tmp_path, capsys):
    text = text_of("simulate", "--replay", clean / "accounts-0", "--out", tmp_path / "a")
    why = "  the log is compacted: the cleaner does not write the same entries as appends do"
    assert text.splitlines()[-1] == why
    text_of("simulate", "--replay", clean / "orders-0", "--out", tmp_path / "b")
    assert "segment.bytes = 1048576 (inferred from the rolls)" in capsys.readouterr().err


def test_a_replay_under_other_settings(data, tmp_path, fingerprint):
    """The result of a smaller interval on the same batches; the copied directory stays unchanged."""
    own = data / "kafka-4.3.1" / "nulls-0"
    before = fingerprint(own)
    every, some = (
        simulated(tmp_path / interval, "--replay", own, f"--set=index.interval.bytes={interval}")
        for interval in ("0", "4096")
    )
    assert every["segments"][0]["offset_entries"] > some["segments"][0]["offset_entries"]
    assert fingerprint(own) == before


def test_what_came_out_otherwise_is_reported(data, tmp_path):
    """The first byte of each copied index that differs, and files of missing segments."""
    own = data / "kafka-4.3.1" / "tiny-index-0"

    def replay(index_bytes: int) -> list[str]:
        options = ("--set=index.interval.bytes=150", f"--set=segment.index.bytes={index_bytes}")
        out = tmp_path / str(index_bytes)
        command = ("simulate", "--replay", own, "--out", out, "--kafka-version", "4.3.1")
        return text_of(*command, *options).splitlines()

    same = "index files are the same as in the copied log, byte for byte"
    assert replay(300)[-1] == f"2 of 2 {same}"
    *_, summary, index, timeindex, why = replay(60)
    assert why.startswith("  other settings, a restart, a truncation, ")
    again = (tmp_path / "60" / "tiny-index-0" / f"{49:020}.index").stat().st_size
    assert summary == f"0 of 2 {same}"
    assert index == f"  {49:020}.index differs from byte {again} on"
    assert timeindex.startswith(f"  {49:020}.timeindex differs from byte ")


def test_a_crash_leaves_what_check_reports(tmp_path):
    """No clean stop; the next start rebuilds, and no bytes are lost."""
    simulated(tmp_path / "kafka", "iot", "--crash")
    assert not (tmp_path / "kafka" / ".kafka_cleanshutdown").exists()
    report = json_of("check", tmp_path / "kafka")
    assert report["restart"]["starts"] and not report["restart"]["clean"]
    assert report["counts"]["error"] == 0
    assert {step["action"] for step in report["restart"]["steps"]} <= {"rebuild", "keep"}


def test_seed_and_release_are_the_commands(tmp_path):
    """The same seed gives the same bytes; 1.1 uses the first offset as key."""
    seeds = (["--seed=5"], ["--seed=5"], ["--seed=6"], ["--seed=5", "--kafka-version=1.1"])
    reports = [
        simulated(tmp_path / str(place), "clickstream", *options)
        for place, options in enumerate(seeds)
    ]
    files = [[segment["files"] for segment in report["segments"]] for report in reports]
    assert files[0] == files[1] != files[2] and files[3] != files[0]
    assert not (tmp_path / "3" / "bootstrap.checkpoint").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["nowhere.toml"], "nowhere.toml: "),
        (
            ["strimzi", "--set", "segment.bytes=1000"],
            "Invalid value 1000 for configuration segment.bytes: Value must be at least 1048576",
        ),
        (["strimzi", "--set", "no.such=1"], "Unknown topic config name: no.such"),
        (["strimzi", "--set", "segment.index.bytes=7"], "Exception: Invalid max index size: 7"),
        (
            ["orders", "--set", "max.message.bytes=200"],
            "RecordTooLargeException: The record batch size in the append to orders-0 is ",
        ),
        (["strimzi", "--kafka-version", "5.0"], "not a known release"),
        (["strimzi", "--kafka-version", "0.10"], "Kafka 0.10 does not support record batches"),
    ],
)
@pytest.mark.parametrize("live", [[], ["--live"]])
def test_what_is_refused_is_one_line(tmp_path, capsys, monkeypatch, options, words, live):
    """Status 2 in Kafka's words, and nothing is written, except by --live up to the refused append."""
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", *options, *live, "--out", "out/below"]) == 2
    captured = capsys.readouterr()
    [line] = [line for line in captured.err.splitlines() if line.startswith("kafkaviz: ")]
    assert words in line and captured.out == "" and "Traceback" not in captured.err
    begun = bool(live) and "the append" in words
    left = f"; {tmp_path / 'out' / 'below'} has the files that were written before this error"
    assert line.endswith(left) == begun == (tmp_path / "out").exists()


SMALL = """
[settings]
"segment.bytes" = 16384
[[phase]]
batches = 30
batches_per_s = 1
value_bytes = 2000
"""


@pytest.mark.parametrize(
    ("head", "options", "refused"),
    [
        (
            "",
            [],
            "segment.bytes: Invalid value 16384 for configuration segment.bytes: Value must be",
        ),
        ("", ["--kafka-version", "3.9.0"], ""),
        ('kafka_version = "5.0"\n', ["--kafka-version", "3.9.0"], ""),
        ('kafka_version = "3.9.0"\n', [], ""),
        ('kafka_version = "3.9.0"\n', ["--kafka-version", "4.3.1"], "must be at least 1048576"),
        ("", ["--set", "log.segment.bytes=1048576"], ""),
        ("", ["--set", "segment.index.bytes=1000"], "Value must be at least 1048576"),
    ],
)
def test_settings_are_checked_by_the_release_that_writes(tmp_path, head, options, refused):
    """Not by the workload's own release if another is given, and replaced values are not checked."""
    (tmp_path / "small.toml").write_text(head + SMALL)
    command = ("simulate", tmp_path / "small.toml", "--out", tmp_path / "out", *options)
    if refused:
        error = refusal_of(*command)
        assert error.startswith("kafkaviz: small.toml: settings, ") and refused in error
    else:
        assert len(json_of(*command)["segments"]) == (1 if "--set" in options else 5)


def test_the_help_shows_that_a_refused_append_of_live_leaves_what_was_before_it(capsys):
    """Everywhere else nothing is written."""
    with pytest.raises(SystemExit):
        main(["simulate", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "takes an append with an exception nothing is written, and the status is 2; what --live "
        "wrote before it stays."
    ) in text


def test_a_copy_under_another_name_is_refused_in_words(data, tmp_path):
    """The output has the name of the input, and a broker accepts only topic-number."""
    shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / "copy")
    error = refusal_of("simulate", "--replay", tmp_path / "copy", "--out", tmp_path / "out")
    assert "copy: is not named like a topic-partition; give the copy a name such as" in error
    assert not (tmp_path / "out").exists()


def test_an_append_that_kafka_refuses_in_the_middle_leaves_nothing(tmp_path):
    """The batches before it were on disk already."""
    late = tmp_path / "late.toml"
    late.write_text(QUICK + "[[phase]]\nbatches = 1\nbatches_per_s = 1\nvalue_bytes = 30000\n")
    error = refusal_of("simulate", late, "--out", tmp_path / "out")
    assert "RecordBatchTooLargeException" in error
    assert [path.name for path in tmp_path.iterdir()] == ["late.toml"]


@pytest.mark.parametrize(
    "where", ["kafka", "kafka/below", "kafka/nulls-0", "kafka/new-0", "copy", "copy/p-0/in"]
)
@pytest.mark.parametrize(
    ("own", "live"),
    [
        ("meta.properties", []),
        (".kafka_cleanshutdown", []),
        ("recovery-point-offset-checkpoint", []),
        (None, []),
        (None, ["--live"]),
    ],
)
def test_nothing_is_written_into_a_directory_of_kafkas(
    data, tmp_path, fingerprint, where, own, live
):
    """Not into a broker directory, below one, or into a folder with a .log; a replay not into its
    own input.

    `own`: the broker's single file left; without it the topic-partitions identify a broker.
    """
    for name in ("kafka/nulls-0", "kafka/orders-1", "copy"):
        shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / name)
    if own:
        (tmp_path / "kafka" / own).write_text("version=1\n")
    before = fingerprint(tmp_path)
    replay = ["--replay", tmp_path / "kafka" / "nulls-0", "--kafka-version", "4.3"]
    for what in (["strimzi"], replay):
        error = refusal_of("simulate", *what, "--out", tmp_path / where, *live)
        assert "name another folder" in error
    assert fingerprint(tmp_path) == before


def test_no_file_is_replaced(tmp_path, fingerprint):
    (tmp_path / "note").write_text("kept")
    (tmp_path / "my-topic-0").mkdir()
    error = refusal_of("simulate", "strimzi", "--out", tmp_path)
    assert f"{tmp_path / 'my-topic-0'}: is there already" in error
    (tmp_path / "my-topic-0").rmdir()
    text_of("simulate", "strimzi", "--out", tmp_path)
    before = fingerprint(tmp_path)
    refusal_of("simulate", "orders", "--out", tmp_path)
    assert fingerprint(tmp_path) == before
    assert (tmp_path / "note").read_text() == "kept"


def test_an_earlier_simulation_takes_no_other_whatever_it_has_lost(tmp_path):
    """Also if none of the broker's own files is left, and a folder of another name is there."""
    text_of("simulate", "strimzi", "--out", tmp_path)
    for path in tmp_path.iterdir():
        if path.is_file():
            path.unlink()
    (tmp_path / "notes").mkdir()
    assert "is a Kafka directory" in refusal_of("simulate", "orders", "--out", tmp_path)
    assert not (tmp_path / "orders-0").exists()


@pytest.mark.parametrize("live", [[], ["--live"]])
def test_what_a_killed_run_left_is_not_built_upon(tmp_path, live):
    """kill -9 leaves a partly filled folder, with which a broker would not start."""
    (tmp_path / ".writing-x" / "my-topic-0").mkdir(parents=True)
    error = refusal_of("simulate", "strimzi", "--out", tmp_path, *live)
    assert ".writing-x: was left by a run that was killed; remove it" in error
    assert [path.name for path in tmp_path.iterdir()] == [".writing-x"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_leaves_nothing(quick, tmp_path, number):
    quick.write_text(quick.read_text().replace("5min", "30d"))
    out = tmp_path / "new" / "kafka"
    command = [sys.executable, "-m", "kafkaviz", "simulate", str(quick), "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not list(out.glob(".writing-*/quick-0/*.log")) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert list(out.glob(".writing-*/quick-0/*.log"))
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert err.splitlines()[-1] == "kafkaviz: stopped" and "Traceback" not in err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("live", [[], ["--live"]])
def test_a_folder_that_cannot_be_created_is_reported(live):
    line = refusal_of("simulate", "strimzi", "--out", "/proc/x", *live)
    assert line.startswith("kafkaviz: /proc/x") and ": nothing can be written there (" in line
    assert line.endswith("); name another folder\n")


def test_the_workloads_that_come_along_are_listed():
    out = text_of("simulate", "--list")
    assert all(f"\n{name} " in f"\n{out}" for name in PRESETS)
    assert len(out.splitlines()) > 2 * len(PRESETS)
    workloads = json_of("simulate", "--list")["workloads"]
    assert [workload["name"] for workload in workloads] == list(PRESETS)
    assert all(list(workload) == ["name", "title", "story"] for workload in workloads)


def test_a_name_that_is_no_workload_lists_those_that_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refusal_of("simulate", "ordres", "--out", "out") == (
        "kafkaviz: ordres: neither a file nor one of the workloads that come with kafkaviz: "
        f"{', '.join(PRESETS)}\n"
    )
    assert "No such file" in refusal_of("simulate", "./ordres.toml", "--out", "out")
    assert "use --out" in refusal_of("simulate", "strimzi")


@pytest.mark.parametrize(
    "line",
    [
        "",
        "strimzi --replay there --out x",
        "strimzi --out x --set broken",
        "strimzi --out ''",
    ],
)
def test_wrong_usage_is_2(line):
    error = refusal_of("simulate", *shlex.split(line))
    assert error.endswith("; see kafkaviz simulate --help\n")


# ---- at the speed of the clock


def test_appends_come_when_their_time_has_come():
    """No append is split or early, and a stop leaves the rest."""
    rows = np.zeros(6, INCOMING)
    rows["append"] = [0, 1, 1, 2, 3, 4]
    rows["now_ms"] = [0, 100, 100, 300, 900, 5000]
    rows["size_bytes"] = 2
    clock = [0.0]

    def wait(seconds: float) -> bool:
        clock[0] += 1000 * seconds
        return clock[0] > 2000

    appends = [
        (clock[0], len(chunk.rows), bytes(chunk.data))
        for chunk in pace([AppendChunk(rows, b"aabbccddeeff")], lambda: clock[0], wait)
    ]
    assert [count for _, count, _ in appends] == [1, 2, 1, 1]
    assert b"".join(data for *_, data in appends) == b"aabbccddee"
    at = 0
    for now, count, _ in appends:
        assert rows["now_ms"][at : at + count].max() <= now
        at += count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "number"), [([], signal.SIGINT), (["--crash"], signal.SIGTERM)]
)
def test_a_live_directory_grows_and_is_closed_on_ctrl_c(quick, tmp_path, options, number):
    """Rolls are printed as they come; then it is a stopped broker's directory."""
    out = tmp_path / "kafka"
    simulate = ["simulate", str(quick), "--out", str(out), "--live", "--json", *options]
    command = [sys.executable, "-m", "kafkaviz", *simulate]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        rolls = [process.stderr.readline() for _ in range(2)]
        running = kv.open_broker(out)
        assert (out / ".lock").exists() and not running.is_clean
        assert len(running.partitions[0].live) >= 3
        process.send_signal(number)
        printed, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0 and all("rolled by size: " in line for line in rolls)
    broker = kv.open_broker(out)
    assert broker.is_clean == (not options) == (not (out / ".lock").exists())
    assert [finding for finding in kv.check(broker).findings if finding.severity == "error"] == []
    segments = json.loads(printed)["segments"]
    bases = [segment.base_offset for segment in broker.partitions[0].live]
    assert [segment["base_offset"] for segment in segments] == bases
    for segment in segments:
        files = segment["files"]
        assert files == {name: digest(out / "quick-0" / name) for name in files}
    first_ms = int(kv.lookup(broker.partitions[0], offset=0).record.timestamp_ms)
    assert abs(first_ms - time.time() * 1000) < 120_000


def test_a_live_replay_that_ends_by_itself(data, tmp_path):
    """A log whose appends came all at once."""
    own = unpack_if_archive(data / "kafka-4.3.1" / "epoch-zero-0")
    replay = ("simulate", "--replay", own, "--out", tmp_path / "out")
    text_of(*replay, "--live", "--kafka-version", "4.3.1")
    assert digests(tmp_path / "out" / "epoch-zero-0") == digests(own)


def test_what_is_simulated_says_so(quick, clean, tmp_path):
    """In a comment that no broker minds; a real directory has none."""
    simulated(tmp_path / "out", str(quick))
    assert kv.open_broker(tmp_path / "out").is_simulated
    assert kv.open_broker(tmp_path / "out" / "quick-0").is_simulated
    assert not kv.open_broker(clean).is_simulated
    (tmp_path / "out" / "server.properties").write_text("# Simulated\nnode.id=1\n")
    assert not kv.open_broker(tmp_path / "out").is_simulated

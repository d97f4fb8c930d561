"""kafkaviz simulate: directories that the other commands open, replays of real logs, and refusals."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kafkaviz as kv
from kafkaviz.__main__ import main
from kafkaviz.cli.simulate import pace
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.simulate.appends import INCOMING, AppendChunk
from kafkaviz.simulate.producers.workload import PRESETS

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


def simulated(capsys, out: Path, *options: str) -> dict:
    assert main(["simulate", "--out", str(out), "--json", *options]) == 0
    report = json.loads(capsys.readouterr().out)
    [folder] = [path for path in out.iterdir() if path.is_dir()]
    for segment in report["segments"]:
        assert (
            segment["files"] == {name: digest(folder / name) for name in segment["files"]}
            and len(segment["files"]) >= 3
        )
    return report


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digests(folder: Path) -> dict[str, str]:
    return {path.name: digest(path) for path in folder.iterdir() if path.suffix in INDEXES}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["orders", "heartbeat", "iot", "strimzi"])
def test_what_is_simulated_is_what_a_rebuild_builds(name, tmp_path, capsys):
    """With the same settings a 4.3.1 leader without a restart leaves the indexes of a recovery."""
    report = simulated(capsys, tmp_path / "kafka", name)
    [folder] = [path for path in (tmp_path / "kafka").iterdir() if path.is_dir()]
    assert main(["rebuild", str(folder), "--out", str(tmp_path / "rebuilt"), "--json"]) == 0
    rebuild = json.loads(capsys.readouterr().out)
    assert digests(tmp_path / "rebuilt") == digests(folder)
    keys = ("base_offset", "log_bytes", "offset_entries", "time_entries")
    assert [[segment[key] for key in keys] for segment in rebuild["segments"]] == [
        [segment[key] for key in keys] for segment in report["segments"]
    ]


def test_every_other_command_opens_it(tmp_path, capsys):
    """check ends with 0, lookup finds a record by its offset and its time, dump reports nothing."""
    simulated(capsys, tmp_path / "kafka", "orders")
    folder = tmp_path / "kafka" / "orders-0"
    assert main(["check", str(tmp_path / "kafka"), "--fail-on", "warning"]) == 0
    capsys.readouterr()
    assert main(["lookup", str(folder), "--offset", "12345", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["record"]
    assert record["offset"] >= 12345
    assert main(["lookup", str(folder), "--timestamp", str(record["timestamp_ms"]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"]["timestamp_ms"] >= record["timestamp_ms"]
    assert main(["dump", *map(str, sorted(folder.glob("*index"))), "--verify-index-only"]) == 0
    assert "Mismatches" not in capsys.readouterr().err


def test_the_published_example_comes_out(tmp_path, capsys):
    """Strimzi's: the time index is full at 24 entries, offsets 0 to 48 in the first segment."""
    report = simulated(capsys, tmp_path / "kafka", "strimzi")
    first, roll = report["segments"][0], report["events"][0]
    assert list(first) == [
        "base_offset",
        "log_bytes",
        "offset_entries",
        "time_entries",
        "roll_reason",
        "files",
    ]
    assert (first["offset_entries"], first["time_entries"], first["roll_reason"]) == (
        24,
        24,
        "time-index-full",
    )
    assert (roll["event"], roll["segment"], roll["offset"], roll["cause"], roll["found"]) == (
        "roll",
        0,
        49,
        "time-index-full",
        24,
    )
    folder = tmp_path / "kafka" / "my-topic-0"
    assert [
        (folder / f"{0:020}{suffix}").stat().st_size for suffix in (".index", ".timeindex")
    ] == [192, 288]
    assert (
        report["events"][-1]["event"] == "close" and report["segments"][-1]["roll_reason"] is None
    )


def test_the_words_have_a_line_a_segment(tmp_path, capsys):
    assert main(["simulate", "strimzi", "--out", str(tmp_path / "kafka")]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0] == (
        f"{0:020}  5831 bytes of .log: 24 offset entries, 24 time entries; rolled by "
        "time-index-full: 24 of 24 usable slots"
    )
    assert captured.out.splitlines()[-1].startswith(
        "28 files of my-topic-0, offsets 0 to 199, written into "
    )
    assert captured.err == (
        "writing as Kafka 4.4.0 does it, with index.interval.bytes = 150, segment.index.bytes = "
        "300\n"
    )


@pytest.mark.parametrize("name", ["nulls-0", "epoch-zero-0", "tiny-index-0"])
def test_a_real_partition_is_replayed_to_the_byte(data, tmp_path, capsys, name):
    """A 4.3.1 leader without a restart wrote it: roll points and bytes are the same."""
    own = data / "kafka-4.3.1" / name
    options = (
        ["--set", "index.interval.bytes=150", "--set", "segment.index.bytes=300"]
        if name == "tiny-index-0"
        else []
    )
    report = simulated(
        capsys, tmp_path / "out", "--replay", str(own), "--kafka-version", "4.3.1", *options
    )
    assert report["differing"] == []
    again = tmp_path / "out" / name
    assert {path.name for path in again.glob("*.log")} == {path.name for path in own.glob("*.log")}
    assert digests(again) == digests(own) and len(digests(own)) > 1
    assert {path.name: digest(path) for path in again.glob("*.log")} == {
        path.name: digest(path) for path in own.glob("*.log")
    }


def test_partitions_of_the_clean_directory_are_replayed_to_the_byte(clean, tmp_path, capsys):
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
        report = simulated(capsys, tmp_path / name, "--replay", str(clean / name))
        assert report["differing"] == []
        own, again = clean / name, tmp_path / name / name
        assert digests(again) == digests(own), name
        others = [
            path.name
            for path in own.iterdir()
            if path.suffix == ".snapshot" or path.name == "leader-epoch-checkpoint"
        ]
        assert len(others) >= 2 and {other: (again / other).read_bytes() for other in others} == {
            other: (own / other).read_bytes() for other in others
        }, name


def test_a_log_that_the_cleaner_rewrote_is_reported(clean, tmp_path, capsys):
    assert (
        main(["simulate", "--replay", str(clean / "accounts-0"), "--out", str(tmp_path / "a")]) == 0
    )
    assert (
        capsys.readouterr().out.splitlines()[-1]
        == "  the log is compacted: the cleaner does not write the same entries as appends do"
    )
    assert (
        main(["simulate", "--replay", str(clean / "orders-0"), "--out", str(tmp_path / "b")]) == 0
    )
    assert "segment.bytes = 1048576 (inferred from its rolls)" in capsys.readouterr().err


def test_a_replay_under_other_settings(data, tmp_path, capsys):
    """The result of a smaller interval on the same batches; the copied directory stays unchanged."""
    own = data / "kafka-4.3.1" / "nulls-0"
    before = {path.name: (digest(path), path.stat().st_mtime_ns) for path in own.iterdir()}
    counts = [
        simulated(
            capsys,
            tmp_path / interval,
            "--replay",
            str(own),
            "--set",
            f"index.interval.bytes={interval}",
        )["segments"][0]["offset_entries"]
        for interval in ("0", "4096")
    ]
    assert counts[0] > counts[1]
    assert {path.name: (digest(path), path.stat().st_mtime_ns) for path in own.iterdir()} == before


def test_what_came_out_otherwise_is_reported(data, tmp_path, capsys):
    """The first byte of each copied index that differs, and files of missing segments."""
    own = data / "kafka-4.3.1" / "tiny-index-0"
    options = [
        "--replay",
        str(own),
        "--set",
        "index.interval.bytes=150",
        "--kafka-version",
        "4.3.1",
    ]
    assert (
        main(
            [
                "simulate",
                *options,
                "--set",
                "segment.index.bytes=300",
                "--out",
                str(tmp_path / "same"),
            ]
        )
        == 0
    )
    assert (
        capsys.readouterr().out.splitlines()[-1]
        == "2 of 2 copied index files are the same, byte for byte"
    )
    assert (
        main(
            [
                "simulate",
                *options,
                "--set",
                "segment.index.bytes=60",
                "--out",
                str(tmp_path / "other"),
            ]
        )
        == 0
    )
    *_, summary, index, timeindex, why = capsys.readouterr().out.splitlines()
    assert why.startswith("  other settings, a restart, a truncation, ")
    again = (tmp_path / "other" / "tiny-index-0" / f"{49:020}.index").stat().st_size
    assert summary == "0 of 2 copied index files are the same, byte for byte"
    assert index == f"  {49:020}.index differs from byte {again} on" and timeindex.startswith(
        f"  {49:020}.timeindex differs from byte "
    )


def test_a_crash_leaves_what_check_reports(tmp_path, capsys):
    """No clean stop; the next start rebuilds, and no bytes are lost."""
    simulated(capsys, tmp_path / "kafka", "iot", "--crash")
    assert not (tmp_path / "kafka" / ".kafka_cleanshutdown").exists()
    assert main(["check", str(tmp_path / "kafka"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (
        not report["restart"]["clean"]
        and report["restart"]["starts"]
        and report["counts"]["error"] == 0
    )
    assert {step["action"] for step in report["restart"]["steps"]} <= {"rebuild", "keep"}


def test_seed_and_release_are_the_commands(tmp_path, capsys):
    """The same seed gives the same bytes; 1.1 uses the first offset as key."""
    reports = [
        simulated(capsys, tmp_path / str(place), "clickstream", *options)
        for place, options in enumerate(
            (
                ["--seed", "5"],
                ["--seed", "5"],
                ["--seed", "6"],
                ["--seed", "5", "--kafka-version", "1.1"],
            )
        )
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
        (
            ["strimzi", "--set", "segment.index.bytes=7"],
            "IllegalArgumentException: Invalid max index size: 7",
        ),
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
    lines = [line for line in captured.err.splitlines() if line.startswith("kafkaviz: ")]
    assert (
        len(lines) == 1
        and words in lines[0]
        and captured.out == ""
        and "Traceback" not in captured.err
    )
    begun = bool(live) and "the append" in words
    assert (
        lines[0].endswith(f"; {tmp_path / 'out' / 'below'} holds the files written before that")
        == begun
        == (tmp_path / "out").exists()
    )


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
            (
                "segment.bytes: Invalid value 16384 for configuration segment.bytes: Value must be "
                "at least 1048576"
            ),
        ),
        ("", ["--kafka-version", "3.9.0"], ""),
        ('kafka_version = "5.0"\n', ["--kafka-version", "3.9.0"], ""),
        ('kafka_version = "3.9.0"\n', [], ""),
        (
            'kafka_version = "3.9.0"\n',
            ["--kafka-version", "4.3.1"],
            "Value must be at least 1048576",
        ),
        ("", ["--set", "log.segment.bytes=1048576"], ""),
        ("", ["--set", "segment.index.bytes=1000"], "Value must be at least 1048576"),
    ],
)
def test_settings_are_checked_by_the_release_that_writes(tmp_path, capsys, head, options, refused):
    """Not by the workload's own release if another is given, and replaced values are not checked."""
    (tmp_path / "small.toml").write_text(head + SMALL)
    arguments = [
        "simulate",
        str(tmp_path / "small.toml"),
        "--out",
        str(tmp_path / "out"),
        "--json",
        *options,
    ]
    assert main(arguments) == (2 if refused else 0)
    captured = capsys.readouterr()
    if refused:
        assert (
            captured.err.startswith("kafkaviz: small.toml: settings, ") and refused in captured.err
        )
    else:
        assert len(json.loads(captured.out)["segments"]) == (1 if "--set" in options else 5)


def test_the_help_shows_that_a_refused_append_of_live_leaves_what_was_before_it(capsys):
    """Everywhere else nothing is written."""
    with pytest.raises(SystemExit):
        main(["simulate", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert (
        "takes an append with an exception nothing is written, and the status is 2; what --live "
        "wrote before it stays."
    ) in text


def test_a_copy_under_another_name_is_refused_in_words(data, tmp_path, capsys):
    """The output has the name of the input, and a broker accepts only topic-number."""
    shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / "copy")
    assert (
        main(["simulate", "--replay", str(tmp_path / "copy"), "--out", str(tmp_path / "out")]) == 2
    )
    assert (
        "copy: is not named like a topic-partition; give the copy a name such as orders-0"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()


def test_an_append_that_kafka_refuses_in_the_middle_leaves_nothing(tmp_path, capsys):
    """The batches before it were on disk already."""
    (tmp_path / "late.toml").write_text(
        QUICK + "[[phase]]\nbatches = 1\nbatches_per_s = 1\nvalue_bytes = 30000\n"
    )
    assert main(["simulate", str(tmp_path / "late.toml"), "--out", str(tmp_path / "out")]) == 2
    assert "RecordBatchTooLargeException" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["late.toml"]


@pytest.mark.parametrize(
    "where", ["kafka", "kafka/below", "kafka/nulls-0", "kafka/new-0", "copy", "copy/p-0/in"]
)
@pytest.mark.parametrize(
    "own", ["meta.properties", ".kafka_cleanshutdown", "recovery-point-offset-checkpoint", None]
)
@pytest.mark.parametrize("live", [[], ["--live"]])
def test_nothing_is_written_into_a_directory_of_kafkas(data, tmp_path, capsys, where, own, live):
    """Not into a broker directory, below one, or into a folder with a .log; a replay not into its
    own input.

    `own`: the broker's single file left; without it the topic-partitions identify a broker.
    """
    for name in ("kafka/nulls-0", "kafka/orders-1", "copy"):
        shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / name)
    if own:
        (tmp_path / "kafka" / own).write_text("version=1\n")
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    for what in (
        ["strimzi"],
        ["--replay", str(tmp_path / "kafka" / "nulls-0"), "--kafka-version", "4.3"],
    ):
        assert main(["simulate", *what, "--out", str(tmp_path / where), *live]) == 2
        assert "name another folder" in capsys.readouterr().err
    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before


def test_no_file_is_replaced(tmp_path, capsys):
    (tmp_path / "note").write_text("kept")
    (tmp_path / "my-topic-0").mkdir()
    assert main(["simulate", "strimzi", "--out", str(tmp_path)]) == 2
    assert f"{tmp_path / 'my-topic-0'}: is there already" in capsys.readouterr().err
    (tmp_path / "my-topic-0").rmdir()
    assert main(["simulate", "strimzi", "--out", str(tmp_path)]) == 0
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    assert main(["simulate", "orders", "--out", str(tmp_path)]) == 2
    assert (tmp_path / "note").read_text() == "kept" and sorted(
        (path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")
    ) == before


def test_an_earlier_simulation_takes_no_other_whatever_it_has_lost(tmp_path, capsys):
    """Also if none of the broker's own files is left, and a folder of another name is there."""
    assert main(["simulate", "strimzi", "--out", str(tmp_path)]) == 0
    for path in tmp_path.iterdir():
        if path.is_file():
            path.unlink()
    (tmp_path / "notes").mkdir()
    assert main(["simulate", "orders", "--out", str(tmp_path)]) == 2
    assert (
        "is a Kafka directory" in capsys.readouterr().err and not (tmp_path / "orders-0").exists()
    )


@pytest.mark.parametrize("live", [[], ["--live"]])
def test_what_a_killed_run_left_is_not_built_upon(tmp_path, capsys, live):
    """kill -9 leaves a partly filled folder, with which a broker would not start."""
    (tmp_path / "out" / ".writing-x" / "my-topic-0").mkdir(parents=True)
    assert main(["simulate", "strimzi", "--out", str(tmp_path / "out"), *live]) == 2
    assert ".writing-x: was left by a run that was killed; remove it" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".writing-x"]


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
    assert (
        process.returncode == 128 + number
        and err.splitlines()[-1] == "kafkaviz: stopped"
        and "Traceback" not in err
    )
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("live", [[], ["--live"]])
def test_a_folder_that_cannot_be_created_is_reported(capsys, live):
    assert main(["simulate", "strimzi", "--out", "/proc/x", *live]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert (
        line.startswith("kafkaviz: /proc/x")
        and ": nothing can be written there (" in line
        and line.endswith("); name another folder")
    )


def test_the_workloads_that_come_along_are_listed(capsys):
    assert main(["simulate", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n{name} " in f"\n{out}" for name in PRESETS) and len(out.splitlines()) > 2 * len(
        PRESETS
    )
    assert main(["simulate", "--list", "--json"]) == 0
    workloads = json.loads(capsys.readouterr().out)["workloads"]
    assert [workload_["name"] for workload_ in workloads] == list(PRESETS) and all(
        list(workload_) == ["name", "title", "story"] for workload_ in workloads
    )


def test_a_name_that_is_no_workload_lists_those_that_are(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "ordres", "--out", "out"]) == 2
    text = (
        "kafkaviz: ordres: neither a file nor one of the workloads that come with kafkaviz: "
        f"{', '.join(PRESETS)}\n"
    )
    assert capsys.readouterr().err == text
    assert (
        main(["simulate", "./ordres.toml", "--out", "out"]) == 2
        and "No such file" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "line",
    ["", "strimzi --replay there --out x", "strimzi --out x --set broken", "strimzi --out ''"],
)
def test_wrong_usage_is_2(line, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["simulate", *(part.strip("'") for part in line.split())])
    assert stop.value.code == 2 and capsys.readouterr().err.endswith(
        "; see kafkaviz simulate --help\n"
    )
    assert main(["simulate", "strimzi"]) == 2


# ---- at the speed of the clock


def test_appends_come_when_their_time_has_come():
    """No append is split or early, and a stop leaves the rest."""
    rows = np.zeros(6, INCOMING)
    rows["append"], rows["now_ms"], rows["size_bytes"] = (
        [0, 1, 1, 2, 3, 4],
        [0, 100, 100, 300, 900, 5000],
        2,
    )
    clock = [0.0]

    def wait(seconds: float) -> bool:
        clock[0] += 1000 * seconds
        return clock[0] > 2000

    appends = [
        (clock[0], len(chunk.rows), bytes(chunk.data))
        for chunk in pace([AppendChunk(rows, b"aabbccddeeff")], lambda: clock[0], wait)
    ]
    assert [count for _, count, _ in appends] == [1, 2, 1, 1] and b"".join(
        data for *_, data in appends
    ) == b"aabbccddee"
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
    command = [
        sys.executable,
        "-m",
        "kafkaviz",
        "simulate",
        str(quick),
        "--out",
        str(out),
        "--live",
        "--json",
        *options,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        rolls = [process.stderr.readline() for _ in range(2)]
        running = kv.open_broker(out)
        assert (
            not running.is_clean
            and (out / ".lock").exists()
            and len(running.partitions[0].live) >= 3
        )
        process.send_signal(number)
        printed, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0 and all("rolled by size: " in line for line in rolls)
    broker = kv.open_broker(out)
    assert broker.is_clean == (not options) == (not (out / ".lock").exists())
    assert [finding for finding in kv.check(broker).findings if finding.severity == "error"] == []
    segments = json.loads(printed)["segments"]
    assert [segment["base_offset"] for segment in segments] == [
        segment.base_offset for segment in broker.partitions[0].live
    ]
    assert all(
        digest(out / "quick-0" / name) == file_digest
        for segment in segments
        for name, file_digest in segment["files"].items()
    )
    first_ms = int(kv.lookup(broker.partitions[0], offset=0).record.timestamp_ms)
    assert (
        abs(first_ms - time.time() * 1000) < 120_000
        and os.stat(out / "meta.properties").st_mtime > 0
    )


def test_a_live_replay_that_ends_by_itself(data, tmp_path, capsys):
    """A log whose appends came all at once."""
    own = unpack_if_archive(data / "kafka-4.3.1" / "epoch-zero-0")
    assert (
        main(
            [
                "simulate",
                "--replay",
                str(own),
                "--out",
                str(tmp_path / "out"),
                "--live",
                "--kafka-version",
                "4.3.1",
            ]
        )
        == 0
    )
    assert digests(tmp_path / "out" / "epoch-zero-0") == digests(own)


def test_what_is_simulated_says_so(quick, clean, tmp_path, capsys):
    """In a comment that no broker minds; a real directory has none."""
    simulated(capsys, tmp_path / "out", str(quick))
    assert (
        kv.open_broker(tmp_path / "out").is_simulated
        and kv.open_broker(tmp_path / "out" / "quick-0").is_simulated
    )
    assert not kv.open_broker(clean).is_simulated
    (tmp_path / "out" / "server.properties").write_text("# Simulated\nnode.id=1\n")
    assert not kv.open_broker(tmp_path / "out").is_simulated

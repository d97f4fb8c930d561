import json
import shutil
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from tests.conftest import DATA, REPLICAS
from tests.support.brokers import copy_partitions

ARCHIVE = DATA / "kafka-4.4.0-jbod-killed-excerpt.tar.xz"
NAMES = ("disk-a", "disk-b", "disk-c")
QUICKLY = ("--seconds", "0")  # no time for samples of batches and codecs


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    """Runs a command with --json and returns the object that it prints."""
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def without_places(report: dict) -> dict:
    """The report without the paths, which differ by how the broker was given."""
    text = json.dumps({name: report[name] for name in ("findings", "restart", "counts", "topics")})
    for directory in report["log_directories"]:
        text = text.replace(directory["path"], Path(directory["path"]).name)
    return json.loads(text)


def moved(disks: Path, folder: Path) -> Path:
    """Returns a copy of a partition in a log directory that has no metadata log."""
    directory = copy_partitions(disks / "disk-b", folder / "disk-b", ())
    return shutil.copytree(disks / "disk-a" / "orders-2", directory / "orders-2")


@pytest.mark.slow
def test_check_says_the_same_of_folder_archive_and_paths(disks, capsys):
    """But for the paths."""
    by_folder = run_json(capsys, "check", str(disks))
    by_archive = run_json(capsys, "check", str(ARCHIVE))
    by_paths = run_json(capsys, "check", *(str(disks / name) for name in NAMES))
    assert without_places(by_folder) == without_places(by_archive) == without_places(by_paths)
    assert by_folder["directory"] == str(disks)
    assert by_paths["directory"] == ", ".join(str(disks / name) for name in NAMES)


def test_a_failing_start_names_the_log_directory(disks, tmp_path, capsys):
    """Two partitions of one name may fail in two directories."""
    root = tmp_path / "broker"
    shutil.copytree(disks, root)
    partition = next((root / "disk-b").glob("__transaction_state-*"))
    (partition / "._00000000000000000000.log").write_bytes(b"")
    main(["check", str(root)])
    text = " ".join(capsys.readouterr().out.split())
    assert f"{partition}: java.lang.NumberFormatException" in text


def test_the_broker_directory_is_a_heading_once(disks, capsys):
    """A directory opened alone has findings of its own, and of the broker's other directories."""
    main(["check", str(disks / "disk-a")])
    lines = capsys.readouterr().out.splitlines()
    assert lines.count("the broker directory") == 1


def test_two_brokers_are_refused_in_one_line(capsys):
    """Exit status 2, and both are named."""
    assert main(["check", *map(str, REPLICAS)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert all(replica.name in line for replica in REPLICAS)


def test_the_text_has_a_part_for_each_directory(disks, tmp_path, capsys):
    """Totals of each and of all; a directory that goes offline is in the headline."""
    root = tmp_path / "broker"
    root.mkdir()
    for name in NAMES:
        names = {path.name for path in (disks / name).iterdir()}
        own = {each for each in names if each.startswith(("__cluster", "__transaction"))}
        copy_partitions(disks / name, root / name, own)
    properties = root / "disk-c" / "meta.properties"
    properties.write_text(properties.read_text().replace("version=1", "version=7"))
    main(["check", *(str(root / name) for name in NAMES)])
    text = capsys.readouterr().out
    assert f"WILL TAKE {root / 'disk-c'} OFFLINE, and serve the other log directories" in text
    assert "3 log directories: " in text and "with the metadata log" in text


def test_tune_and_report_take_all_directories(disks, tmp_path, capsys):
    """The metadata log has the intervals, in another directory than most logs."""
    paths = [str(disks / name) for name in ("disk-c", "disk-a")]
    source = run_json(capsys, "tune", *paths, *QUICKLY)["source"]
    assert source["kind"] == "broker"
    out = tmp_path / "broker.html"
    report = run_json(capsys, "report", *paths, "-o", str(out), "--sha256")
    assert report["directory"] == ", ".join(paths) and report["restart"]["starts"]
    files = {digest["file"].split("/")[0] for digest in report["inputs"]}
    assert files == {"disk-c", "disk-a"} and out.stat().st_size > 10_000


def test_rebuild_says_that_an_interval_is_assumed(disks, tmp_path, capsys):
    partition = str(disks / "disk-b" / "audit-1")
    assert main(["rebuild", partition, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    words = (
        "unknown: the metadata log is not in an opened log directory; Kafka's default is assumed"
    )
    assert words in " ".join((printed.out + printed.err).split())
    assert main(["rebuild", partition, "--out", str(tmp_path / "out"), "--json"]) == 0
    unknown = json.loads(capsys.readouterr().out)["unknown"]
    assert unknown == ["index.interval.bytes", "segment.index.bytes"]
    assert main(["lookup", partition, "--offset", "0"]) == 0
    recovery = " ".join(capsys.readouterr().err.split())
    assert "the default index.interval.bytes would rebuild" in recovery
    assert "the broker would rebuild" not in recovery


def test_the_partition_that_a_hint_names_is_there(disks, capsys):
    assert main(["lookup", str(disks), "--offset", "5"]) == 2
    text = " ".join(capsys.readouterr().err.split())
    assert f"{disks}/disk-c/audit-0" in text


@pytest.mark.parametrize(("name", "interval"), [("disk-a/orders-2", 1024), ("moved", None)])
def test_a_single_log_is_read_by_its_directory(disks, tmp_path, capsys, name, interval):
    """Its release, settings and stop are those of the log directory around it, in each command;
    where that has no metadata log they are unknown, and none is a default.
    """
    folder = disks / name
    if name == "moved":
        folder = moved(disks, tmp_path)
    log = folder / f"{0:020d}.log"
    one, whole = (run_json(capsys, "check", str(path)) for path in (log, folder))
    assert one["kafka_version"] == whole["kafka_version"]
    assert one["restart"]["clean"] is False and one["counts"] == whole["counts"]
    retention = {side["retention"][0]["retention_ms"]["value"] for side in (one, whole)}
    assert retention == ({86_400_000} if interval else {None})
    current = run_json(capsys, "tune", str(log), *QUICKLY)["current"]
    assert (current["unknown"] == []) == bool(interval)
    assert main(["rebuild", str(log), "--out", str(tmp_path / "out")]) == 0
    words = capsys.readouterr()
    text = " ".join((words.out + words.err).split())
    assert "as Kafka 4.4.0 does it" in text
    assert f"index.interval.bytes = {interval or 4096} (" in text
    assert ("Kafka's default is assumed" in text) == (interval is None)


def test_a_closed_segment_is_not_said_to_be_the_end(clean, capsys):
    """Checkpoints beyond it are of later segments; its producers' snapshot is at its end."""
    logs = sorted((clean / "payments-0").glob("*.log"))
    for log in logs[:2]:
        codes = {item["code"] for item in run_json(capsys, "check", str(log))["findings"]}
        assert not codes & {"recovery-point-beyond-end", "snapshot-missing", "partition-stray"}


def test_other_log_directories_show_the_settings_of_a_partition(disks, tmp_path, capsys):
    """--log-dirs of lookup, rebuild and a replay: as if the metadata log were in its directory."""
    folder = moved(disks, tmp_path)
    others = ["--log-dirs", f"{disks / 'disk-a'},{disks / 'disk-c'}"]
    alone = run_json(capsys, "lookup", str(folder), "--offset", "7600")
    together = run_json(capsys, "lookup", str(folder), "--offset", "7600", *others)
    beside = run_json(capsys, "lookup", str(disks / "disk-a" / "orders-2"), "--offset", "7600")
    assert alone["unknown"] == ["index.interval.bytes"] and together == beside
    assert alone["searches"] != beside["searches"] and alone["answer"] == beside["answer"]
    files, counts = [], []
    inputs = [str(folder), *others], [str(disks / "disk-a" / "orders-2")], [str(folder)]
    for number, arguments in enumerate(inputs):
        out = tmp_path / str(number)
        segments = run_json(capsys, "rebuild", *arguments, "--out", f"{out}-built")["segments"]
        files.append([segment["files"] for segment in segments])
        replayed = run_json(capsys, "simulate", "--replay", *arguments, "--out", f"{out}-replayed")
        counts.append(replayed["segments"][0]["offset_entries"])
    assert files[0] == files[1] != files[2]
    assert counts[0] == counts[1] > counts[2]


def test_log_dirs_of_another_broker_are_refused(disks, capsys):
    partition = str(disks / "disk-b" / "audit-1")
    line = ["lookup", partition, "--offset", "0", "--log-dirs", str(REPLICAS[0])]
    assert main(line) == 2 and capsys.readouterr().err.count("\n") == 1


def test_a_partition_below_a_directory_of_an_archive_is_one(disks, capsys):
    """By its path in the archive: no broker whose default interval would be asked for."""
    folder, packed = (
        run_json(capsys, "tune", str(path / "disk-a" / "orders-2"), *QUICKLY)
        for path in (disks, ARCHIVE)
    )
    assert packed["source"]["kind"] == "partition"
    assert packed["current"] == folder["current"]

"""kafkaviz tiered, and the commands that take --tiered: where each segment lies."""

import base64
import json
import os
import shutil
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.cli import tiered
from kafkaviz.format import record
from kafkaviz.format.remote_metadata import DELETE_STATES
from kafkaviz.log.broker import join_tiered
from kafkaviz.log.tiered.remote_log_metadata import COPY_STARTED
from kafkaviz.log.tiered.tiered_partition import SegmentPlace, TieredPartition, TieredSegment
from kafkaviz.messages import say
from kafkaviz.pipeline.catalog import catalog
from tests.pipeline import whole_logs
from tests.support.tiered_storage import answers, unpack

ANSWERS = answers()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[Path, Path]:
    return unpack(tmp_path_factory.mktemp("tiered"))


def partition_delete_value(topic: str, partition: int, topic_id: str, state: int) -> bytes:
    return b"".join(
        (
            b"\x01\x02\x00",
            bytes([len(topic) + 1]),
            topic.encode(),
            base64.urlsafe_b64decode(f"{topic_id}=="),
            partition.to_bytes(4, "big"),
            b"\x00",
            (1).to_bytes(4, "big"),
            (1_700_000_003_000).to_bytes(8, "big"),
            bytes([state]),
            b"\x00",
        )
    )


def tell_deletion(logs: Path, topic_id: str, state: int) -> None:
    value = partition_delete_value("orders", 0, topic_id, state)
    body = record.build(
        [record.Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=value)]
    )
    data = whole_logs.framed(0, body, [whole_logs.START_MS], 0)
    directory = logs / "__remote_log_metadata-49"
    shutil.rmtree(directory, ignore_errors=True)
    whole_logs.write(directory, [data], 0)


@pytest.mark.parametrize("state", range(3))
def test_the_deletion_of_a_partition_is_reported(recorded, tmp_path, capsys, state):
    """Once it has finished no segment is known, and nothing refers to the files in the store."""
    logs, store = tmp_path / "logs", recorded[1]
    shutil.copytree(recorded[0], logs)
    topic_id = next(store.glob("*/orders-0-*")).name[-22:]
    tell_deletion(logs, topic_id, state)
    assert main(["tiered", str(logs), "--tiered", str(store), "--json"]) == 0
    partitions = json.loads(capsys.readouterr().out)["partitions"]
    orders = next(partition for partition in partitions if partition["partition"] == "orders-0")
    assert orders["deletion"] == DELETE_STATES[state]
    counts = {place: count for place, count in orders["counts"].items() if count}
    is_finished = DELETE_STATES[state] == "DELETE_PARTITION_FINISHED"
    assert counts == (
        {"dangling": 18, "local": 4} if is_finished else {"local": 1, "both": 3, "remote": 15}
    )
    assert orders["deleted_segments"] == (18 if is_finished else 0)
    main(["tiered", str(logs), "--tiered", str(store)])
    assert (
        f"deletion of the topic-partition from the store: {DELETE_STATES[state]}"
        in capsys.readouterr().out
    )


def test_metadata_that_cannot_be_read_is_a_problem_in_json_too(recorded, tmp_path, capsys):
    """The same sentences as in the text, each with the file; none where all can be read."""
    logs = shutil.copytree(recorded[0], tmp_path / "logs")
    arguments = ["tiered", str(logs), "--tiered", str(recorded[1])]
    main([*arguments, "--json"])
    assert json.loads(capsys.readouterr().out)["problems"] == []
    body = record.build([record.Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=b"?")])
    directory = logs / "__remote_log_metadata-49"
    shutil.rmtree(directory, ignore_errors=True)
    data = whole_logs.framed(0, body, [whole_logs.START_MS], 0)
    stem = whole_logs.write(directory, [data], 0)
    main([*arguments, "--json"])
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem.startswith(str(stem.with_suffix(".log")))
    main(arguments)
    assert say("cli_tiered.problem", problem=problem) in capsys.readouterr().out.splitlines()


def test_a_check_names_the_directory_and_not_its_view(recorded, capsys):
    """In text and JSON: the broker directory, or the store if it is alone."""
    logs, store = recorded
    for arguments, name in (([str(logs), "--tiered", str(store)], logs), ([str(store)], store)):
        main(["check", *arguments])
        assert capsys.readouterr().out.startswith(f"{name}")
        main(["check", *arguments, "--json"])
        assert json.loads(capsys.readouterr().out)["directory"].startswith(str(name))


def test_an_ingest_takes_the_segments_of_both_places(recorded, in_process, tmp_path, capsys):
    """One catalog under the path of the broker directory; a second ingest reads nothing again."""
    logs, store = recorded
    arguments = ["ingest", str(logs), "--tiered", str(store), "--catalog", str(tmp_path / "out")]
    results = []
    for _ in range(2):
        assert main([*arguments, "--json"]) == 0
        results.append(json.loads(capsys.readouterr().out))
    read_segments = [result["read"]["segments"] for result in results]
    assert read_segments[0] > 0 == read_segments[1]
    segments = catalog.read(tmp_path / "out").table("segments").to_pylist()
    bases = sorted(row["base_offset"] for row in segments if row["topic"] == "orders")
    assert len(bases) == 19 and bases[:2] == [0, 20] and bases[-1] == 395
    records = sum(row["records"] for row in segments if row["topic"] == "orders")
    assert records >= len(ANSWERS["orders"]["records"])


def test_the_app_opens_what_is_joined(recorded, monkeypatch, capsys):
    """The server gets the folder that shows both; a store without a directory is refused."""
    calls = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call))
    logs, store = recorded
    main(["app", str(logs), "--tiered", str(store)])
    assert calls[0][2]["KAFKAVIZ_DIR"] == str(join_tiered(logs, store))
    assert main(["app", "--tiered", str(store)]) == 2 and len(calls) == 1
    assert capsys.readouterr().err.count("\n") == 1
    main(["app", str(store)])
    assert calls[1][2]["KAFKAVIZ_DIR"] == str(store)


def test_a_lookup_says_what_is_read_of_the_store(recorded, capsys):
    """The remote segment, each read with its requests and bytes, and the total time."""
    logs, store = recorded
    arguments = ["lookup", str(logs / "orders-0"), "--tiered", str(store), "--offset", "41"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    (chosen,) = (line for line in lines if line.startswith("  > "))
    reason = "greatest base offset not above 41"
    assert chosen.split("41  ")[1] == say("cli_lookup.remote_segment", why=reason)
    assert lines.count(say("cli_lookup.remote_step")) == 2  # the search and the scan
    first = lines.index(say("cli_lookup.remote_reads"))
    assert main([*arguments, "--json"]) == 0
    cost = json.loads(capsys.readouterr().out)["remote"]
    names = [line.split()[0] for line in lines[first + 1 : first + 1 + len(cost["reads"])]]
    assert names == [read["file"] for read in cost["reads"]]
    assert str(cost["requests"]) in lines[first + 1 + len(names)]


def orders_lines(text: str) -> list[str]:
    """Returns the lines about orders-0."""
    paragraph = next(part for part in text.split("\n\n") if part.startswith("orders-0"))
    return paragraph.splitlines()


@pytest.mark.parametrize("has_store", [True, False])
def test_what_prevents_an_upload_is_said(recorded, tmp_path, capsys, has_store):
    """The metadata forgets the newest segment, whose snapshot is removed; with and without store."""
    logs = shutil.copytree(recorded[0], tmp_path / "logs")
    store = shutil.copytree(recorded[1], tmp_path / "store")
    for directory in logs.glob("__remote_log_metadata-*"):
        shutil.rmtree(directory)
    for path in store.glob("*/orders-0-*/*375-*"):
        path.unlink()
    (logs / "orders-0" / f"{395:020}.snapshot").unlink()
    arguments = ["tiered", str(logs), *(["--tiered", str(store)] if has_store else [])]
    assert main(arguments) == 0
    lines = orders_lines(capsys.readouterr().out)
    reason = say("upload.snapshot-missing", file=f"{395:020}.snapshot")
    assert [line for line in lines if line.endswith(reason)] == [
        line for line in lines if line.strip().startswith("375 –")
    ]
    assert main([*arguments, "--json"]) == 0
    uploads = json.loads(capsys.readouterr().out)["uploads"]
    orders = next(upload for upload in uploads if upload["partition"] == "orders-0")
    earlier = "uploaded" if has_store else "unknown"
    states = [segment["state"] for segment in orders["segments"]]
    assert states == [earlier, earlier, "snapshot-missing", "active"]
    assert orders["leader"] is True
    assert orders["highest_remote_offset"] == (374 if has_store else None)


def test_attempts_to_copy_a_segment_are_one_row():
    """Each failed attempt leaves a COPY_SEGMENT_STARTED; the table has one row and their number."""
    attempts = [
        TieredSegment(
            start_offset=20,
            end_offset=39,
            place=SegmentPlace.UNFINISHED,
            segment_id=name,
            state=COPY_STARTED,
        )
        for name in "abc"
    ]
    active = TieredSegment(
        start_offset=40, end_offset=None, place=SegmentPlace.LOCAL, is_local=True
    )
    partition = TieredPartition(directory="t-0", topic_id="id", segments=(*attempts, active))
    _, _, *rows = tiered._render_partition(partition, None)
    assert [row.split("–")[0].strip() for row in rows] == ["20", "40"]
    assert rows[0].endswith(f"{COPY_STARTED} {say('cli_tiered.attempts', n=3)}")


def test_a_store_alone_has_no_uploads(recorded, capsys):
    assert main(["tiered", str(recorded[1]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["uploads"] == []


def test_neither_a_store_nor_a_broker_directory_is_one_line(tmp_path, capsys):
    assert main(["tiered", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("is_whole", "key"), [(True, "cli_tiered.nothing_enabled"), (False, "cli_tiered.nothing_known")]
)
def test_a_broker_without_tiering_says_so(clean, tmp_path, capsys, is_whole, key):
    directory = clean
    if not is_whole:
        directory = tmp_path / "part"
        shutil.copytree(clean / "nulls-0", directory / "nulls-0")
    assert main(["tiered", str(directory)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [say(key)]

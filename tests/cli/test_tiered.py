"""kafkaviz tiered, and the commands that take --tiered: where each segment lies."""

import base64
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
from tests.support.commands import json_of, refusal_of, text_of
from tests.support.tiered_storage import answers, unpack

ANSWERS = answers()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[Path, Path]:
    return unpack(tmp_path_factory.mktemp("tiered"))


def delete_value(topic_id: str, state: int) -> bytes:
    """Returns a RemotePartitionDeleteMetadata of orders-0: type 2, version 0, of broker 1."""
    head = b"\x01\x02\x00" + b"\x07orders" + base64.urlsafe_b64decode(f"{topic_id}==") + bytes(5)
    time_ms = (1_700_000_003_000).to_bytes(8, "big")
    return head + (1).to_bytes(4, "big") + time_ms + bytes([state, 0])


def write_metadata(logs: Path, value: bytes) -> Path:
    """Replaces a partition of the metadata's topic by one record, and returns its .log."""
    body = record.build(
        [record.Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=value)]
    )
    directory = logs / "__remote_log_metadata-49"
    shutil.rmtree(directory, ignore_errors=True)
    data = whole_logs.framed(0, body, [whole_logs.START_MS])
    return whole_logs.write(directory, [data]).with_suffix(".log")


@pytest.mark.parametrize("state", range(3))
def test_the_deletion_of_a_partition_is_reported(recorded, tmp_path, state):
    """Once it has finished no segment is known, and nothing refers to the files in the store."""
    logs, store = shutil.copytree(recorded[0], tmp_path / "logs"), recorded[1]
    topic_id = next(store.glob("*/orders-0-*")).name[-22:]
    write_metadata(logs, delete_value(topic_id, state))
    partitions = json_of("tiered", logs, "--tiered", store)["partitions"]
    orders = next(partition for partition in partitions if partition["partition"] == "orders-0")
    assert orders["deletion"] == DELETE_STATES[state]
    counts = {place: count for place, count in orders["counts"].items() if count}
    if DELETE_STATES[state] == "DELETE_PARTITION_FINISHED":
        assert counts == {"dangling": 18, "local": 4} and orders["deleted_segments"] == 18
    else:
        assert counts == {"local": 1, "both": 3, "remote": 15} and orders["deleted_segments"] == 0
    words = f"deletion of the topic-partition from the store: {DELETE_STATES[state]}"
    assert words in text_of("tiered", logs, "--tiered", store)


def test_metadata_that_cannot_be_read_is_a_problem_in_json_too(recorded, tmp_path):
    """The same sentences as in the text, each with the file; none where all can be read."""
    logs = shutil.copytree(recorded[0], tmp_path / "logs")
    command = ("tiered", logs, "--tiered", recorded[1])
    assert json_of(*command)["problems"] == []
    log = write_metadata(logs, b"?")
    (problem,) = json_of(*command)["problems"]
    assert problem.startswith(str(log))
    assert say("cli_tiered.problem", problem=problem) in text_of(*command).splitlines()


def test_a_check_names_the_directory_and_not_its_view(recorded):
    """In text and JSON: the broker directory, or the store if it is alone."""
    logs, store = recorded
    for arguments, name in (((logs, "--tiered", store), logs), ((store,), store)):
        assert text_of("check", *arguments).startswith(str(name))
        assert json_of("check", *arguments)["directory"].startswith(str(name))


def test_an_ingest_takes_the_segments_of_both_places(recorded, in_process, tmp_path):
    """One catalog under the path of the broker directory; a second ingest reads nothing again."""
    logs, store = recorded
    command = ("ingest", logs, "--tiered", store, "--catalog", tmp_path / "out")
    assert json_of(*command)["read"]["segments"] > 0
    assert json_of(*command)["read"]["segments"] == 0
    segments = catalog.read(tmp_path / "out").table("segments").to_pylist()
    bases = sorted(row["base_offset"] for row in segments if row["topic"] == "orders")
    assert len(bases) == 19 and bases[:2] == [0, 20] and bases[-1] == 395
    records = sum(row["records"] for row in segments if row["topic"] == "orders")
    assert records >= len(ANSWERS["orders"]["records"])


def test_the_app_opens_what_is_joined(recorded, monkeypatch):
    """The server gets the folder that shows both; a store without a directory is refused."""
    calls = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call))
    logs, store = recorded
    main(["app", str(logs), "--tiered", str(store)])
    assert calls[0][2]["KAFKAVIZ_DIR"] == str(join_tiered(logs, store))
    assert refusal_of("app", "--tiered", store) and len(calls) == 1
    main(["app", str(store)])
    assert calls[1][2]["KAFKAVIZ_DIR"] == str(store)


def test_a_lookup_says_what_is_read_of_the_store(recorded):
    """The remote segment, each read with its requests and bytes, and the total time."""
    logs, store = recorded
    command = ("lookup", logs / "orders-0", "--tiered", store, "--offset", "41")
    lines = text_of(*command).splitlines()
    (chosen,) = (line for line in lines if line.startswith("  > "))
    reason = "greatest base offset not above 41"
    assert chosen.split("41  ")[1] == say("cli_lookup.remote_segment", why=reason)
    assert lines.count(say("cli_lookup.remote_step")) == 2  # the search and the scan
    first = lines.index(say("cli_lookup.remote_reads"))
    cost = json_of(*command)["remote"]
    names = [line.split()[0] for line in lines[first + 1 : first + 1 + len(cost["reads"])]]
    assert names == [read["file"] for read in cost["reads"]]
    assert str(cost["requests"]) in lines[first + 1 + len(names)]


@pytest.mark.parametrize("has_store", [True, False])
def test_what_prevents_an_upload_is_said(recorded, tmp_path, has_store):
    """The metadata forgets the newest segment, whose snapshot is removed; with and without store."""
    logs = shutil.copytree(recorded[0], tmp_path / "logs")
    store = shutil.copytree(recorded[1], tmp_path / "store")
    for directory in logs.glob("__remote_log_metadata-*"):
        shutil.rmtree(directory)
    for path in store.glob("*/orders-0-*/*375-*"):
        path.unlink()
    (logs / "orders-0" / f"{395:020}.snapshot").unlink()
    command = ("tiered", logs, *(("--tiered", store) if has_store else ()))
    paragraphs = text_of(*command).split("\n\n")
    lines = next(part for part in paragraphs if part.startswith("orders-0")).splitlines()
    reason = say("upload.snapshot-missing", file=f"{395:020}.snapshot")
    [refused] = [line for line in lines if line.endswith(reason)]
    assert refused.strip().startswith("375 –")
    uploads = json_of(*command)["uploads"]
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


def test_a_store_alone_has_no_uploads(recorded):
    assert json_of("tiered", recorded[1])["uploads"] == []


def test_neither_a_store_nor_a_broker_directory_is_one_line(tmp_path):
    assert refusal_of("tiered", tmp_path)


@pytest.mark.parametrize(
    ("is_whole", "key"), [(True, "cli_tiered.nothing_enabled"), (False, "cli_tiered.nothing_known")]
)
def test_a_broker_without_tiering_says_so(clean, tmp_path, is_whole, key):
    directory = clean
    if not is_whole:
        directory = tmp_path / "part"
        shutil.copytree(clean / "nulls-0", directory / "nulls-0")
    assert text_of("tiered", directory).splitlines()[1:] == [say(key)]

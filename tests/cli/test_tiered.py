"""kafkaviz tiered, and the commands that take --tiered: where each segment lies."""

import base64
import json
import os
import shutil
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.format import record
from kafkaviz.format.remote_metadata import DELETE_STATES
from kafkaviz.log.broker import join_tiered
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

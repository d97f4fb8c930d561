"""kafkaviz transactions: partitions, one fetch, JSON, and its errors."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.format.txn_index import ENTRY
from kafkaviz.messages import say
from tests.conftest import SAMPLES
from tests.pipeline import whole_logs
from tests.pipeline.transaction_batches import of_producer, plain
from tests.support import tiered_storage
from tests.support.brokers import copy_partitions, metadata_reads
from tests.support.commands import json_of, refusal_of, text_of

ABORT = (
    "kafka-transactions.sh --bootstrap-server BROKER:9092 abort --topic payments --partition 0 "
    "--start-offset 18900"
)


def test_a_broker_has_its_transactions_by_partition(clean):
    lines = text_of("transactions", clean).splitlines()
    head, held_by, open_for, coordinator, abort, *others = lines
    assert head.startswith("payments-0: ")
    assert head.endswith("stable offset 18900, log end 18920; 398 committed, 163 aborted, 1 open")
    assert held_by.strip() == (
        "read_committed consumers wait for tx-payments-2 (producer 4), epoch 189, whose "
        "transaction began at offset 18900, 2026-11-21 09:29:45.807"
    )
    assert (
        open_for.strip()
        == "it has been open for 42.2 s, counted up to the newest time in this copy"
    )
    assert coordinator.strip() == (
        "for the coordinator, it is ongoing; its timeout of 50 min ends at 2026-11-21 10:19:45: "
        "do not abort it before then"
    )
    assert abort.endswith(f": {ABORT}") and "if it is still open after that" in abort
    names = ["__consumer_offsets-1", "__consumer_offsets-2", "refunds-0", "refunds-1"]
    assert [line.partition(":")[0] for line in others[:-1]] == names
    assert others[-1] == "31 partitions have no transactions"


def test_all_lists_the_last_transactions_of_each_partition(clean):
    lines = text_of("transactions", clean, "--all").splitlines()
    _, *rows = lines[5:30]
    assert rows[19].split()[:5] == ["18900", "–", "18906", "open", "2026-11-21"]
    assert rows[20].strip() == "542 earlier transactions; --json lists the last 10000"
    assert any(line.startswith("refunds-0: ") for line in lines)


def test_a_partition_without_its_coordinator_asks_for_the_broker(clean, tmp_path):
    copy = shutil.copytree(clean / "payments-0", tmp_path / "payments-0")
    _, held_by, _, unknown, abort, *_ = text_of("transactions", copy).splitlines()
    assert "wait for producer 4, epoch 189" in held_by
    assert unknown.strip().startswith("this copy has no __transaction_state, so it is unknown")
    assert abort.strip().startswith("if it hangs, abort it ")


def test_the_json_has_every_transaction(clean):
    answer = json_of("transactions", clean / "payments-0")
    assert answer["schema"] == "transactions/1" and "fetch" not in answer
    [part] = answer["partitions"]
    ends = {"partition": "payments-0", "last_stable_offset": 18900, "log_end": 18920}
    assert part.items() >= ends.items()
    assert part["held_by"] == part["transactions"][-1]
    assert part["held_by"] == {
        "producer_id": 4,
        "producer_epoch": 189,
        "transactional_id": "tx-payments-2",  # from the directories next to it
        "first_offset": 18900,
        "last_offset": 18906,
        "outcome": "open",
        "start_ms": 1795253385807,
        "end_ms": None,
        "marker_offset": None,
        "begins_before_log": False,
    }
    assert part["hold"] == {
        "verdict": "ongoing",
        "open_ms": part["hold"]["open_ms"],
        "coordinator_state": "Ongoing",
        "timeout_ms": 3_000_000,
        "coordinator_start_ms": 1795253385807,
        "until_ms": 1795256385807,
    }
    assert part["counts"] == {"committed": 398, "aborted": 163, "open": 1}
    assert len(part["transactions"]) == 562 and part["problem"] is None


def test_a_fetch_is_explained_step_by_step(clean):
    fetch = ("transactions", clean / "payments-0", "--fetch")
    call = (*fetch, "300", "--max-bytes", "10000")
    head, _, bound, *steps = text_of(*call).splitlines()
    assert head == (
        "payments-0: a fetch from offset 300 gets 10000 bytes from byte 39017 of segment 0; the "
        "next fetch is from offset 376"
    )
    assert bound.startswith("  upper bound for aborted transactions: offset 424, from slot 9 of")
    assert steps[1].endswith("slot 1: producer 4, offsets 239 to 359: returned to the consumer")
    assert steps[3].endswith(
        "the entry's last stable offset 579 reaches the upper bound, so the search ends"
    )
    assert steps[4] == "  with these bytes, the consumer gets a list of 1 aborted transaction"
    skipped = "  offsets 301 to 314, producer 4: skipped because its transaction was aborted"
    assert steps[6] == skipped
    answer = json_of(*call)["fetch"]
    decisions = [step["decision"] for step in answer["steps"]]
    assert decisions == ["ended-before", "returned", "begins-after", "begins-after"]
    assert answer["returned"] == [{"producer_id": 4, "first_offset": 239}]
    assert answer["batches"][0]["newly_aborted"] == answer["returned"]
    assert (answer["step_count"], answer["bound_source"]) == (4, "index-entry")
    assert text_of(*fetch, "18900") == (
        "payments-0: a fetch from offset 18900 gets nothing; the last stable offset is 18900 and "
        "the log ends at 18920\n"
    )


def test_no_line_is_given_for_a_beginning_that_is_unknown(tmp_path):
    directory = whole_logs.broker(tmp_path / "made")
    whole_logs.write(directory / "t-0", [of_producer(7, 100), plain(102)], 100)
    text = text_of("transactions", directory / "t-0")
    _, held_by, _, abort, _, row = text.splitlines()
    assert "began at offset 100" in held_by and held_by.endswith(" or earlier")
    assert "abort --topic" not in abort and "describe-producers" in abort
    assert row.split()[:4] == ["≤", "100", "–", "101"] and row.split()[5] == "≤"
    assert "has been open for" not in text


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["payments-0", "--fetch", "99999"], "we only have log segments upto 18920."),
        ([".", "--fetch", "0"], "has more than one partition; --fetch needs the path of one"),
        (["nothing-here"], "nothing-here"),
        (["payments-0", "--max-bytes", "9"], "--max-bytes is the size of a fetch"),
    ],
)
def test_a_wrong_call_is_one_line(clean, options, error):
    name, *rest = options
    assert error in refusal_of("transactions", clean / name, *rest)


def test_a_refused_txnindex_is_one_line(clean, tmp_path):
    copy = shutil.copytree(clean / "payments-0", tmp_path / "payments-0")
    path = copy / f"{0:020}.txnindex"
    entries = np.fromfile(path, ENTRY)
    entries["version"][0] = 1 << 8
    entries.tofile(path)
    error = refusal_of("transactions", copy, "--fetch", "0")
    assert "Unexpected aborted transaction version 1" in error
    printed = text_of("transactions", copy)
    assert f"{path.name} cannot be read, so the first offsets" in printed
    assert "398 committed, 163 aborted, 1 open" in printed  # the .log tells them all


def test_an_archive_is_read_like_a_directory():
    text = text_of("transactions", SAMPLES / "kafka-4.3.1-killed-selection.tar.gz")
    assert text.endswith("no transactions\n")


def test_an_open_transaction_of_a_copy_without_the_active_segment_is_no_barrier(tmp_path):
    """The transaction from 150 on is committed at 155, in the next segment."""
    logs, store = tiered_storage.unpack(tmp_path)
    closed = logs / "payments-0" / f"{125:020}.log"
    for path, log_end in ((closed, 151), (store, 155)):
        printed = text_of("transactions", path)
        assert say("transactions.may_go_on") in printed
        assert "consumers wait" not in printed and "abort --topic" not in printed
        parts = json_of("transactions", path)["partitions"]
        [part] = [part for part in parts if part["partition"] == "payments-0"]
        assert part["may_go_on"] and part["held_by"] is part["last_stable_offset"] is None
        assert (part["log_end"], part["counts"]["open"]) == (log_end, 1)
    assert say("transactions.fetch_of_copy") in text_of("transactions", closed, "--fetch", "150")
    active = logs / "payments-0" / f"{155:020}.log"
    for path in (active, logs / "payments-0"):
        assert "last stable offset 180, log end 180" in text_of("transactions", path)
    shutil.copy(closed, tmp_path)
    assert say("transactions.may_go_on") in text_of("transactions", tmp_path / closed.name)


def test_a_beginning_that_is_not_here_is_marked(tmp_path):
    """The transaction of producer 4 in payments-0 begins at 150; the copy begins at 151."""
    logs, _ = tiered_storage.unpack(tmp_path)
    for path in (logs / "payments-0").glob(f"{12:019}*"):
        path.unlink()
    rows = [line.split() for line in text_of("transactions", logs / "payments-0").splitlines()]
    assert ["150", "–", "154", "155", "committed", "<"] in [row[:6] for row in rows]


def test_a_fetch_within_a_batch_delivers_the_rest_of_it(tmp_path):
    logs, _ = tiered_storage.unpack(tmp_path)
    call = ("transactions", logs / "payments-0", "--fetch", "130")
    assert "  offsets 130 to 130, producer 4: delivered" in text_of(*call).splitlines()
    first = json_of(*call)["fetch"]["batches"][0]
    assert first.items() >= {"base_offset": 126, "first_offset": 130, "last_offset": 130}.items()


@pytest.mark.parametrize("text", ["-5", "0", "x", "9" * 30])
def test_a_size_that_no_fetch_has_is_one_line(clean, text):
    call = ("transactions", clean / "payments-0", "--fetch", "0", f"--max-bytes={text}")
    assert say("transactions.no_size", text=text) in refusal_of(*call)


def test_a_partition_that_cannot_be_read_is_a_row(tmp_path, clean, monkeypatch):
    some = copy_partitions(clean, tmp_path / "some", ["payments-0", "refunds-0", "refunds-1"])
    for path in (some / "refunds-0").glob("*.log"):
        path.unlink()
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if Path(path).name == "refunds-1":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    problems = {"refunds-0": "holds no .log", "refunds-1": say("errors.may_not_be_read")}
    lines = text_of("transactions", some).splitlines()
    assert {f"{partition}: {problem}" for partition, problem in problems.items()} <= {*lines}
    parts = json_of("transactions", some)["partitions"]
    found = {part["partition"]: part["problem"] for part in parts}
    assert found == {"payments-0": None} | problems


@pytest.mark.parametrize("is_cut", [True, False])
def test_the_list_and_a_fetch_have_one_log_end(tmp_path, is_cut):
    """A start after an unclean stop cuts the log at the first batch that is damaged."""
    logs, _ = tiered_storage.unpack(tmp_path)
    (logs / ".kafka_cleanshutdown").unlink()
    log = logs / "payments-0" / f"{155:020}.log"
    data = log.read_bytes()
    wrong = data[:2000] + bytes([data[2000] ^ 1]) + data[2001:]
    log.write_bytes(data[:2000] if is_cut else wrong)
    [part] = json_of("transactions", logs / "payments-0")["partitions"]
    fetch = json_of("transactions", logs / "payments-0", "--fetch", "150")["fetch"]
    ends = {"log_end": 162, "last_stable_offset": 162}
    assert part.items() >= ends.items() and fetch.items() >= ends.items()
    if is_cut:
        assert "cannot be read from byte 1826 on" in part["problem"]
    else:
        assert part["problem"] == say("transactions.ends_elsewhere", end=162, last=180)


def test_partitions_that_start_up_recovers_share_the_settings(damaged, monkeypatch):
    """The metadata log is read once for the release, and once for the settings of all."""
    images = metadata_reads(monkeypatch)
    text_of("transactions", damaged)
    assert len(images) == 2

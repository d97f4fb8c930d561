"""The transaction index, compared with TransactionIndex of Kafka 4.3.1."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from kafkaviz.errors import CorruptBytes
from kafkaviz.format.txn_index import (
    ENTRY,
    build,
    check,
    collect,
    count_after_truncation,
    ensure_readable,
    entry_text,
    parse,
)
from tests.support.recorded import recorded

INDEXES = recorded("txn-index")


def damaged(data: bytes, damage: str) -> bytes:
    if cut := re.fullmatch(r"cut-to-([0-9]+)", damage):
        return data[: int(cut[1])]
    if version := re.fullmatch(r"entry-([0-9]+)-version-([0-9]+)", damage):
        at = 34 * int(version[1]) + 1
        return data[:at] + bytes([int(version[2])]) + data[at + 1 :]
    return data + bytes({"zero-entry-added": 34, "zero-tail-20": 20}[damage])


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index["id"])
def test_entries_are_those_kafka_wrote(index):
    """Parsed and built again; an entry has Kafka's size."""
    data = bytes.fromhex(index["hex"])
    assert ENTRY.itemsize == 34
    assert [list(entry) for entry in parse(data).tolist()] == index["entries"]
    assert build(np.array([tuple(entry) for entry in index["entries"]], ENTRY)) == data


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index["id"])
def test_answers_are_kafkas(index):
    entries = parse(bytes.fromhex(index["hex"]))
    counts = Counter(query["m"] for query in index["queries"])
    assert counts["collectAbortedTxns"] > 0 and counts["truncateTo"] > 0
    for query in index["queries"]:
        if query["m"] == "collectAbortedTxns":
            aborted, complete = collect(entries, query["fetch_offset"], query["upper_bound_offset"])
            assert [list(entry)[1:] for entry in aborted.tolist()] == query["r"]
            assert complete == query["complete"]
        elif query["m"] == "truncateTo":
            remaining = count_after_truncation(entries, query["offset"])
            assert (remaining, 34 * remaining) == (query["entries_after"], query["size_after"])


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: index["id"])
def test_damage_is_what_kafka_took_it_for(index):
    """Torn entries are left out, versions in the second byte go unnoticed, and an entry below the
    segment is refused in Kafka's words.
    """
    reads = [query for query in index["queries"] if query["m"] == "read"]
    assert reads
    for read in reads:
        data = damaged(bytes.fromhex(index["hex"]), read["damage"])
        entries = parse(data)
        assert (len(data), len(entries)) == (read["size"], read["entries"])
        if read["sanity"] == "ok":
            check(entries, read["segment_base"])
        else:
            with pytest.raises(CorruptBytes) as fault:
                check(entries, read["segment_base"])
            words = read["sanity"]["message"].replace(" in index <DIR>/c.txnindex", "")
            assert str(fault.value.what) == words


@pytest.mark.parametrize(
    ("first_byte", "refused"), [(0, False), (1, True), (127, True), (128, False), (255, False)]
)
def test_a_version_is_one_signed_byte(first_byte, refused):
    """AbortedTxn.version() of 4.3.1 reads a byte and compares it as a signed one."""
    data = bytes(34) + bytes([first_byte]) + bytes(33)
    if not refused:
        assert len(ensure_readable(parse(data))) == 2
        return
    words = f"Unexpected aborted transaction version {first_byte}, current version is 0"
    with pytest.raises(CorruptBytes, match=words) as fault:
        ensure_readable(parse(data))
    assert fault.value.position == 34


def test_an_entry_reads_as_kafka_prints_it():
    entry = np.array([(0, 2000, 980, 1005, 1006)], ENTRY)[0]
    assert entry_text(entry) == (
        "AbortedTxn(version=0, producerId=2000, firstOffset=980, lastOffset=1005, "
        "lastStableOffset=1006)"
    )


@given(arrays.arrays(ENTRY, 4))
def test_entries_come_back_and_a_torn_one_is_left_out(entries):
    assert parse(build(entries) + bytes(33)).tobytes() == entries.tobytes()

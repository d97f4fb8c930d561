"""Producer snapshots, compared with those of ProducerStateManager of Kafka 4.3.1."""

from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as arrays

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.errors import CorruptBytes
from kafkaviz.format.producer_snapshot import PRODUCER, build, first_sequence, parse
from tests.support.cases import all_cases
from tests.support.recorded import recorded

SNAPSHOTS = recorded("producer-snapshots")
ACCEPTED = [snapshot for snapshot in SNAPSHOTS if snapshot["valid"]]
REFUSED = [snapshot for snapshot in SNAPSHOTS if not snapshot["valid"]]


def none_below_0(offset: int) -> int | None:
    return None if offset < 0 else offset


def as_recorded(producers: np.ndarray) -> list[dict]:
    """Returns the producers in the recording's form, that of Kafka's ProducerStateEntry."""
    return [
        {
            "producerId": row["producer_id"],
            "producerEpoch": row["producer_epoch"],
            "coordinatorEpoch": row["coordinator_epoch"],
            "lastTimestamp": row["timestamp_ms"],
            "hasBatch": row["last_offset"] >= 0,
            "firstSeq": first,
            "lastSeq": row["last_sequence"],
            "currentTxnFirstOffset": none_below_0(row["current_txn_first_offset"]),
            "firstDataOffset": row["last_offset"] - row["offset_delta"],
            "lastDataOffset": row["last_offset"],
            "lastOffsetDelta": row["offset_delta"],
        }
        for row, first in zip(producers, first_sequence(producers), strict=True)
    ]


def test_the_recording_holds_both_kinds():
    assert (len(ACCEPTED), len(REFUSED)) == (60, 90)


@all_cases("snapshot", ACCEPTED, ids=lambda snapshot: snapshot["id"])
def test_producers_are_those_kafka_read(snapshot):
    """Bytes after the last producer count if the checksum covers them."""
    data = bytes.fromhex(snapshot["hex"])
    parsed_snapshot = parse(data)
    by_id = itemgetter("producerId")
    found = as_recorded(parsed_snapshot.producers)
    assert sorted(found, key=by_id) == sorted(snapshot["producers"], key=by_id)
    if "damage" not in snapshot:
        assert build(parsed_snapshot.producers) == data


@all_cases("snapshot", REFUSED, ids=lambda snapshot: snapshot["id"])
def test_damage_is_refused_in_kafkas_words(snapshot):
    with pytest.raises(CorruptBytes) as fault:
        parse(bytes.fromhex(snapshot["hex"]))
    assert str(fault.value.what) == snapshot["message"]


def test_a_count_below_zero_is_no_list():
    covered = b"\xff\xff\xff\xff"
    data = b"\x00\x01" + crc32c(covered).to_bytes(4, "big") + covered
    words = "non-nullable field producerEntries was serialized as null"
    with pytest.raises(CorruptBytes, match=words):
        parse(data)


@pytest.mark.parametrize(
    ("last", "delta", "first"), [(6, 2, 4), (6, 6, 0), (1, 2, 2147483647), (0, 2, 2147483646)]
)
def test_sequences_go_on_from_zero(last, delta, first):
    """DefaultRecordBatch.decrementSequence does the same."""
    producers = np.zeros(1, PRODUCER)
    producers["last_sequence"], producers["offset_delta"] = last, delta
    assert first_sequence(producers).tolist() == [first]


@given(arrays.arrays(PRODUCER, 3))
def test_producers_come_back(producers):
    assert parse(build(producers)).producers.tobytes() == producers.tobytes()

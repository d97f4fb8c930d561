"""Predictions about batches and codecs, compared with logs of real producers and brokers."""

import shutil

import numpy as np
import pytest

from kafkaviz.analysis.batching import packing
from kafkaviz.analysis.batching.merging import measure_merges
from kafkaviz.binary import codec
from kafkaviz.format import batch as batch_format
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.log.broker import Broker, open_broker
from tests.analysis.batching.samples import read_topic
from tests.conftest import DATA

# Kafka's snappy and its zstd are of other releases; one batch of lz4 has other deltas of offsets
TOLERANCES = {"snappy": 0.003, "zstd": 0.0001, "lz4": 0.0005}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Broker:
    """Returns a broker with a part of each log, over the same records."""
    folder = tmp_path_factory.mktemp("recorded")
    shutil.unpack_archive(DATA / "producer-batches.tar.xz", folder, filter="data")
    return open_broker(folder)


@pytest.mark.parametrize(
    ("linger_ms", "batch_bytes", "partitions", "counts"),
    [
        (5, 16384, 1, (828, 90, 77, 68)),
        (50, 16384, 1, (828, 28, 27, 28)),
        (50, 131072, 1, (828, 16, 14, 15)),
        # requests for other partitions of the producer take along open batches
        (5, 131072, 12, (1605, 1019, 803, 722)),
    ],
)
def test_a_real_producer_merges_as_predicted(recorded, linger_ms, batch_bytes, partitions, counts):
    """The counts of batches: with linger.ms 0, fewest merged, real, most merged."""
    sample = read_topic(recorded, f"paced-none-0-16384-{partitions}")
    real = read_topic(recorded, f"paced-none-{linger_ms}-{batch_bytes}-{partitions}")
    merging = measure_merges(
        sample, {}, float("inf"), lingers_ms=[linger_ms], batch_sizes=[batch_bytes]
    )
    merge = merging.at(linger_ms, batch_bytes)
    found = (len(sample.batches), merge.low.batches, len(real.batches), merge.high.batches)
    assert found == counts
    # the parts end between batches, so they do not have quite as many records
    real_batches = len(real.batches) * len(sample.records) / len(real.records)
    assert merge.high.batches - 1 <= real_batches <= merge.low.batches + 1
    real_bytes = real.stored_bytes * len(sample.records) / len(real.records)
    assert 0.995 * merge.high.log_bytes <= real_bytes <= 1.005 * merge.low.log_bytes


def test_packed_records_have_the_size_that_real_producers_gave_them(clean, monkeypatch):
    monkeypatch.setattr(packing, "BATCH_SIZES", (packing.TODAY,))
    monkeypatch.setattr(packing, "PART_BYTES", 1 << 30)  # all records are packed
    checked = set()
    broker = open_broker(clean)
    for topic in {partition.topic for partition in broker.partitions}:
        sample = read_topic(broker, topic)
        batches = sample.batches[sample.batches["end_record"] > sample.batches["first_record"]]
        codec_ids = np.unique(batch_format.codec(batches))
        if len(codec_ids) != 1:
            continue
        name = codec.CODECS[codec_ids[0]]
        monkeypatch.setattr(packing, "LEVELS", {name: (None,)})
        (row,) = packing.pack(sample, float("inf"), is_whole=True)
        stored_bytes = int((batches["size_bytes"] - HEADER_BYTES).sum())
        assert row.packed_bytes == pytest.approx(stored_bytes, rel=TOLERANCES.get(name, 0))
        checked.add(name)
    assert checked == set(codec.CODECS)

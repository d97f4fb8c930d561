"""A real producer with other settings, and kafkaviz's prediction of what they do to a log.

Producers send the same 20 000 records to a broker of 4.3.1, each to another topic and with other
settings. Each codec, linger.ms of 0, 5 and 50, and batch.size of 16 KiB and 128 KiB are covered by
`SENDINGS`, not all of their combinations. Paced records come in bursts with pauses, so that
linger.ms matters: four such producers send at a time. The others send one after the other, as fast
as possible, so that batch.size matters.

- For each codec: the .log has the size that packing the records of another log at its batches
  predicts.
- From each log with linger.ms 0 and 16 KiB: the .log of every other sending of the same pace, codec
  and partitions has as many batches and bytes as merging its batches predicts, between the fewest
  and the most merged. No two runs have the same pauses between records, for example when the
  machine is busy, so a small share of today's batches and bytes may be missing to the range.

`python -m tests.kafka.real_producers` records parts of these logs for tests without a broker.
"""

import io
import json
import random
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np

from kafkaviz.analysis.batching import packing
from kafkaviz.analysis.batching.merging import measure_merges
from kafkaviz.analysis.batching.record_sample import RecordSample, read_sample
from kafkaviz.analysis.tuning.log_windows import choose_windows
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.units import file_stem
from tests.kafka.harness import ask_once, scratch
from tests.kafka.starts import DATA

RELEASE = "4.3.1"
RECORDS = 20_000
SEED = 47
MAX_BURST_RECORDS = 80
MAX_GAP_US = 400  # between two records of a burst
MAX_PAUSE_US = 24_000  # between two bursts: 5 ms end in most of them, 50 ms in none
RECORDED = DATA / "producer-batches.tar.xz"
RECORDED_SHARE = (0.8, 0.88)  # the part of each log, by offset
DEPARTMENTS = ("garden", "kitchen", "books", "toys", "music", "sports")
CODEC_TOLERANCE = 0.05
BATCHES_TOLERANCE = 0.03
BYTES_TOLERANCE = 0.005
FIRST_SETTINGS = (0, 16384)  # linger.ms and batch.size of the logs that are merged


@dataclass(frozen=True)
class Sending:
    """The settings of a producer that sends the records to a topic of its own.

    Attributes:
        is_paced: whether the records come in bursts, or as fast as possible.
    """

    is_paced: bool
    codec: str
    linger_ms: int
    batch_bytes: int
    partitions: int = 1

    @property
    def topic(self) -> str:
        pace = "paced" if self.is_paced else "fast"
        return f"{pace}-{self.codec}-{self.linger_ms}-{self.batch_bytes}-{self.partitions}"

    @property
    def question(self) -> dict:
        lengths = {"linger.ms": str(self.linger_ms), "batch.size": str(self.batch_bytes)}
        settings = {"compression.type": self.codec, **lengths}
        question = {"name": self.topic, "partitions": self.partitions, "is_paced": self.is_paced}
        return {**question, "settings": settings}

    @property
    def settings(self) -> tuple[int, int]:
        return self.linger_ms, self.batch_bytes


SENDINGS = (
    Sending(True, "none", 0, 16384),
    Sending(True, "none", 5, 16384),
    Sending(True, "none", 50, 16384),
    Sending(True, "none", 50, 131072),
    Sending(True, "lz4", 0, 16384),
    Sending(True, "lz4", 50, 131072),
    Sending(True, "none", 0, 16384, 12),
    Sending(True, "none", 5, 131072, 12),
    Sending(False, "none", 0, 16384),
    Sending(False, "none", 5, 131072),
    Sending(False, "gzip", 5, 16384),
    Sending(False, "gzip", 0, 131072),
    Sending(False, "snappy", 0, 131072),
    Sending(False, "lz4", 5, 131072),
    Sending(False, "zstd", 0, 16384),
    Sending(False, "zstd", 50, 131072),
)


def differences() -> tuple[list[str], str]:
    """Returns the sizes that were predicted wrong, and a line about the largest error."""
    with scratch() as folder:
        broker = open_broker(send(Path(folder)))
        samples = {sending: _sample(broker, sending) for sending in SENDINGS}
    return compare(samples)


def compare(samples: dict[Sending, RecordSample]) -> tuple[list[str], str]:
    faults = []
    errors = []
    for sending, sample in samples.items():
        if sending.codec == "none":
            continue
        pace = ("none", sending.is_paced)
        plain = next(samples[one] for one in samples if (one.codec, one.is_paced) == pace)
        predicted = _packed_bytes(plain, sample, sending.codec)
        errors.append(predicted / _log_bytes(sample) - 1)
        if abs(errors[-1]) > CODEC_TOLERANCE:
            faults.append(f"{sending.topic}: {errors[-1]:+.1%} of its bytes predicted with a codec")
    merges = 0
    for first, sample in samples.items():
        if first.settings != FIRST_SETTINGS:
            continue
        for other, real in samples.items():
            if other.linger_ms and replace(other, linger_ms=0, batch_bytes=16384) == first:
                faults += _merge_faults(first, sample, other, real)
                merges += 1
    worst = max(errors, key=abs)
    summary = (
        f"a producer of {RELEASE} sent {RECORDS} records {len(samples)} times; the size with a "
        f"codec was predicted {len(errors)} times, at worst with an error of {worst:+.1%}, and the "
        f"batches with another linger.ms {merges} times"
    )
    return faults, summary


def _packed_bytes(plain: RecordSample, packed: RecordSample, codec_name: str) -> float:
    """Returns the size of a log that has the records of one log in the batches of another."""
    counts = packed.batches["end_record"] - packed.batches["first_record"]
    records = plain.records.copy()
    records["batch"] = np.repeat(np.arange(len(counts)), counts)
    moved = replace(plain, batches=packed.batches, records=records)
    with mock.patch.multiple(
        packing,
        LEVELS={codec_name: (None,)},
        BATCH_SIZES=(packing.TODAY,),
        PART_BYTES=1 << 30,  # all records, not a part of each block
    ):
        (row,) = packing.pack(moved, float("inf"))
    return HEADER_BYTES * len(counts) + row.ratio * len(plain.data)


def _merge_faults(
    first: Sending, sample: RecordSample, other: Sending, real: RecordSample
) -> Iterator[str]:
    ratio = sample.stored_bytes / len(sample.data)
    lingers_ms, batch_sizes = [other.linger_ms], [other.batch_bytes]
    merging = measure_merges(
        sample, {first.codec: ratio}, float("inf"), lingers_ms=lingers_ms, batch_sizes=batch_sizes
    )
    merge = merging.at(*other.settings)
    batches = merge.low.batches, merge.high.batches
    log_bytes = merge.low.log_bytes, merge.high.log_bytes
    batches_slack = BATCHES_TOLERANCE * len(sample.batches)
    bytes_slack = BYTES_TOLERANCE * _log_bytes(sample)
    for what, predicted, found, slack in (
        ("batches", batches, len(real.batches), batches_slack),
        ("bytes", log_bytes, _log_bytes(real), bytes_slack),
    ):
        if not min(predicted) - slack <= found <= max(predicted) + slack:
            yield f"{other.topic} has {found} {what}, predicted {predicted} (fewest, most merged)"


def _log_bytes(sample: RecordSample) -> int:
    return int(sample.batches["size_bytes"].sum())


def _sample(broker: Broker, sending: Sending) -> RecordSample:
    """Returns all records of a topic."""
    partitions = [one for one in broker.partitions if one.topic == sending.topic]
    logs = [(partition, partition.live) for partition in partitions]
    sample = read_sample(choose_windows(logs, None), 1 << 30)
    assert len(sample.records) == RECORDS
    return sample


def records() -> list[tuple[str, str]]:
    """Returns keys and values: orders as a shop might write them."""
    chosen = random.Random(SEED)
    return [_order(number, chosen) for number in range(RECORDS)]


def _order(number: int, chosen: random.Random) -> tuple[str, str]:
    customer = f"customer-{chosen.randrange(2000):06d}"
    items = [
        {
            "sku": f"{chosen.choice(DEPARTMENTS)}-{chosen.randrange(10_000):05d}",
            "quantity": chosen.randint(1, 9),
            "price_cents": chosen.randrange(99, 20_000),
        }
        for _ in range(chosen.choice((1, 1, 1, 2, 3, 5)))
    ]
    order = {
        "order_id": f"{number:08d}-{chosen.getrandbits(64):016x}",
        "customer": customer,
        "currency": chosen.choice(("EUR", "EUR", "GBP", "USD")),
        "items": items,
        "is_gift": chosen.random() < 0.1,
    }
    return customer, json.dumps(order)


def due_us() -> Iterator[int]:
    """Yields the time of each record, in microseconds since the first: bursts, then pauses."""
    chosen = random.Random(SEED)
    time_us = 0
    left = 0
    for _ in range(RECORDS):
        if left:
            time_us += chosen.randrange(MAX_GAP_US)
        else:
            left = chosen.randint(1, MAX_BURST_RECORDS)
            time_us += chosen.randrange(MAX_PAUSE_US)
        left -= 1
        yield time_us


def send(folder: Path) -> Path:
    """Sends them all to one broker, and returns its directory."""
    question = {
        "dir": str(folder),
        "records": records(),
        "due_us": list(due_us()),
        "topics": [sending.question for sending in SENDINGS],
    }
    ask_once("Producers", question, folder)
    return folder / "logs"


def record() -> None:
    """Writes the archive RECORDED: some whole batches of each paced log without a codec."""
    with scratch() as folder, tarfile.open(RECORDED, "w:xz", preset=9) as archive:
        broker = open_broker(send(Path(folder)))
        for sending in SENDINGS:
            if sending.is_paced and sending.codec == "none":
                for partition in [one for one in broker.partitions if one.topic == sending.topic]:
                    _add_part(archive, partition, RECORDS // sending.partitions)


def _add_part(archive: tarfile.TarFile, partition: Partition, records: int) -> None:
    (segment,) = partition.live
    batches = segment.batches()
    first, last = (int(share * records) for share in RECORDED_SHARE)
    batches = batches[(batches["base_offset"] >= first) & (batches["last_offset"] < last)]
    start = batches["position"][0]
    end = batches["position"][-1] + batches["size_bytes"][-1]
    data = segment.log.path.read_bytes()[start:end]
    name = f"{partition.directory}/{file_stem(int(batches['base_offset'][0]))}.log"
    file = tarfile.TarInfo(name)
    file.size = len(data)
    archive.addfile(file, io.BytesIO(data))


if __name__ == "__main__":
    record()

import pickle
import random
import shutil
from math import inf

import numpy as np
import pytest

from kafkaviz.format import producer_snapshot, txn_index
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.datasource.consumer_options import DataLoss
from kafkaviz.pipeline.datasource.source import KafkaReader
from kafkaviz.pipeline.datasource.source_reader import Malformed
from kafkaviz.pipeline.datasource.transactions import plan_transactions
from tests.pipeline import whole_logs
from tests.pipeline.source_reading import counted, read, reader_of
from tests.pipeline.transaction_batches import marker, of_producer, plain, read_transactions

ABORT, COMMIT = 0, 1


def offsets_of(reader: KafkaReader, tasks) -> list[int | None]:
    """Returns the offsets that tasks give, pickled as by Spark."""
    reader, tasks = pickle.loads(pickle.dumps((reader, tasks)))
    batches = [batch for task in tasks for batch in reader.read(task)]
    return [offset for batch in batches for offset in batch.column("offset").to_pylist()]


def write_snapshot(partition, offset: int, open_since: dict[int, int]) -> None:
    """Writes a producer snapshot with open transactions."""
    producers = np.zeros(len(open_since), producer_snapshot.PRODUCER)
    producers["producer_id"] = list(open_since)
    producers["current_txn_first_offset"] = list(open_since.values())
    (partition / f"{offset:020d}.snapshot").write_bytes(producer_snapshot.build(producers))


class RandomLog:
    """A log of three transactional producers, as a running broker leaves it.

    Each segment has its .txnindex, and a producer snapshot at its base offset.
    """

    def __init__(self, directory, seed: int, segments: int, *, has_snapshots: bool) -> None:
        self.open: dict[int, int] = {}
        self.aborted: set[int] = set()
        self.end_offset = 0
        self._owned: dict[int, list[int]] = {}
        self._partition = directory / "t-0"
        self._random = random.Random(seed)
        for number in range(segments):
            self._write_segment()
            if has_snapshots and number + 1 < segments:
                write_snapshot(self._partition, self.end_offset, self.open)

    @property
    def committed(self) -> list[int]:
        """Returns the offsets that a consumer of committed records gets, markers among them."""
        end = min(self.open.values(), default=self.end_offset)
        return [offset for offset in range(end) if offset not in self.aborted]

    def _write_segment(self) -> None:
        base_offset, batches, entries = self.end_offset, [], []
        for _ in range(self._random.randint(10, 40)):
            producer_id = self._random.choice([7, 8, 9])
            begin = self.open.get(producer_id)
            if begin is not None and self._random.random() < 0.4:
                kind = self._random.choice([ABORT, COMMIT])
                batches.append(marker(producer_id, self.end_offset, kind))
                del self.open[producer_id]
                offsets = self._owned.pop(producer_id)
                if kind == ABORT:
                    self.aborted.update(offsets)
                    stable = min(self.open.values(), default=self.end_offset + 1)
                    entries.append((0, producer_id, begin, self.end_offset, stable))
                self.end_offset += 1
            elif self._random.random() < 0.7:
                batches.append(of_producer(producer_id, self.end_offset, value_bytes=1500))
                self.open.setdefault(producer_id, self.end_offset)
                owned = self._owned.setdefault(producer_id, [])
                owned += [self.end_offset, self.end_offset + 1]
                self.end_offset += 2
            else:
                batches.append(plain(self.end_offset))
                self.end_offset += 1
        stem = whole_logs.write(self._partition, batches, base_offset)
        if entries:
            built = txn_index.build(np.array(entries, txn_index.ENTRY))
            stem.with_suffix(".txnindex").write_bytes(built)


@pytest.mark.parametrize("has_snapshots", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_no_log_is_read_before_the_first_task(tmp_path, monkeypatch, seed, has_snapshots):
    """On a copy of a running broker, whose end no snapshot describes; in any order of its splits,
    and also if ten segments without a snapshot are too many to list in each task.
    """
    directory = whole_logs.broker(tmp_path / "made")
    log = RandomLog(directory, seed, segments=10, has_snapshots=has_snapshots)
    reader = reader_of("kafka_records", directory, task_bytes="16384", columns="offset")
    with counted(monkeypatch) as reads:
        tasks = reader.partitions()
    assert not {name for name in reads.names if name.endswith(".log")}
    assert len(tasks) > 10
    assert offsets_of(reader, tasks) == log.committed
    assert sorted(offsets_of(reader, tasks[::-1])) == log.committed
    single = [offset for task in tasks for offset in offsets_of(reader, [task])]
    assert single == log.committed
    for first in range(0, log.end_offset, 37):
        rows = read("kafka_records", directory, offsets=f"{first}-{first + 20}", columns="offset")
        expected = [offset for offset in log.committed if first <= offset <= first + 20]
        assert rows["offset"].to_pylist() == expected


def test_the_end_of_a_log_is_followed_once_by_a_process(tmp_path, monkeypatch):
    """However many splits need it; splits before a snapshot without an open transaction do not."""
    directory = whole_logs.broker(tmp_path / "made")
    whole_logs.write(directory / "t-0", [plain(offset) for offset in range(50)])
    write_snapshot(directory / "t-0", 50, {})
    tail = [of_producer(7, 50, value_bytes=4000), marker(7, 52, COMMIT)]
    tail += [plain(offset) for offset in range(53, 1053)]
    whole_logs.write(directory / "t-0", tail, 50)
    reader = reader_of("kafka_records", directory, task_bytes="16384", columns="offset")
    tasks = reader.partitions()
    splits = [split for task in tasks for split in task.value.splits]
    tails = [split.transactions.tail for split in splits]
    assert tails[0] is None
    assert len(tails) > 5 and None not in tails[1:]
    assert [split.reports_tail for split in splits] == [*[False] * (len(splits) - 1), True]
    with counted(monkeypatch) as reads:
        for tail in pickle.loads(pickle.dumps(tails[1:])):
            assert tail.follow(inf).open == {}
    assert reads.bytes < 1.1 * splits[-1].segment_task.log_bytes


def test_of_a_cleanly_stopped_log_the_snapshot_at_its_end_is_enough(clean):
    """The tasks read no tail (a real broker's, 4.3.1), unless no snapshot was written."""
    undecided = []
    for partition in open_broker(clean).partitions:
        known, problems = plan_transactions(partition)
        assert not problems
        if known.tail:
            undecided.append(partition.label)
        else:
            assert known.open == read_transactions(partition)[0].open
    assert undecided == ["obsolete-2019-0"]


@pytest.fixture
def open_at_the_roll(tmp_path):
    """Returns a transaction of the closed segment that is aborted in the active one."""
    directory = whole_logs.broker(tmp_path / "made")
    whole_logs.write(directory / "t-0", [plain(0), of_producer(7, 1)])
    write_snapshot(directory / "t-0", 3, {7: 1})
    whole_logs.write(directory / "t-0", [plain(3), plain(4), marker(7, 5, ABORT)], 3)
    return directory


def test_a_tail_that_was_cut_since_the_plan_ends_the_query(open_at_the_roll):
    """Without its marker the transaction would seem open, and the rest would be hidden silently."""
    log = open_at_the_roll / "t-0" / f"{3:020d}.log"
    data = log.read_bytes()
    for mode in ("FAILFAST", "DROPMALFORMED"):
        reader = reader_of("kafka_records", open_at_the_roll, mode=mode)
        log.write_bytes(data)
        tasks = reader.partitions()
        log.write_bytes(data[:-20])
        with pytest.raises(Malformed, match=rf"{log.name}.* when the query was planned"):
            offsets_of(reader, tasks)
    log.write_bytes(data)
    assert offsets_of(reader, reader.partitions()) == [0, 3, 4, 5]


def test_a_listed_tail_that_lost_its_first_segments_ends_the_query(tmp_path):
    """Nothing else says what began there."""
    directory = whole_logs.broker(tmp_path / "made")
    for first in range(0, 60, 5):
        whole_logs.write(directory / "t-0", [plain(first + n) for n in range(5)], first)
    reader = reader_of("kafka_records", directory)
    tasks = reader.partitions()
    for path in (directory / "t-0").glob(f"{0:020d}.*"):
        path.unlink()
    with pytest.raises(Malformed, match="t-0: holds no segment 0"):
        offsets_of(reader, tasks)


def test_a_marker_that_cannot_be_read_is_one_row(open_at_the_roll):
    log = open_at_the_roll / "t-0" / f"{3:020d}.log"
    data = bytearray(log.read_bytes())
    broken = marker(7, 5, ABORT)[:-10] + b"\xff" * 10
    log.write_bytes(bytes(data[: -len(broken)]) + whole_logs.summed(broken))
    with pytest.raises(Malformed, match="a marker of a transaction cannot be applied"):
        read("kafka_records", open_at_the_roll)
    rows = read("kafka_records", open_at_the_roll, mode="PERMISSIVE").to_pylist()
    problems = [row["problem"] for row in rows if row["problem"]]
    assert sum("a marker of a transaction cannot be applied" in text for text in problems) == 1


@pytest.mark.parametrize("is_stopped", [True, False])
def test_an_end_after_the_last_stable_offset_is_lost_data(open_at_the_roll, is_stopped, caplog):
    """Whether a snapshot shows it when the query is planned, or a task finds it in the log."""
    shutil.rmtree(open_at_the_roll / "t-0")
    batches = [plain(0), plain(1), of_producer(7, 2), plain(4), plain(5)]
    whole_logs.write(open_at_the_roll / "t-0", batches)
    if is_stopped:
        write_snapshot(open_at_the_roll / "t-0", 6, {7: 2})
    options = {
        "assign": '{"t":[0]}',
        "endingOffsets": '{"t":{"0":5}}',
        "kafka.isolation.level": "read_committed",
    }
    reader = reader_of("kafka_files", open_at_the_roll, **options)
    with pytest.raises(DataLoss, match="t-0: offset 5 is past the last stable offset 2"):
        offsets_of(reader, reader.partitions())
    reader = reader_of("kafka_files", open_at_the_roll, **options, failOnDataLoss="false")
    assert offsets_of(reader, reader.partitions()) == [0, 1]
    assert sum("last stable offset" in line for line in caplog.messages) == 1


def test_a_tail_in_a_file_that_is_gone_is_named(open_at_the_roll):
    log = open_at_the_roll / "t-0" / f"{3:020d}.log"
    reader = reader_of("kafka_records", open_at_the_roll, offsets="0-2")
    tasks = reader.partitions()
    log.unlink()
    with pytest.raises(Malformed, match=log.name):
        offsets_of(reader, tasks)

"""Histories of a log drawn at random: settings, batches, rolls, restarts, crashes, truncations; or
a workload with random settings.

kafkaviz's writer follows each history, so that each next offset is where its log ends.
"""

import random
from dataclasses import replace

import numpy as np

from kafkaviz import versions
from kafkaviz.format.record import Record
from kafkaviz.simulate.appends import MemoryLogs
from kafkaviz.simulate.config import log_config, release_behaviour
from kafkaviz.simulate.producers.streams import chunks
from kafkaviz.simulate.producers.workload import PRESETS, preset
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog
from tests.kafka import batches
from tests.kafka.batches import NOBODY, Producer
from tests.kafka.harness import zipped
from tests.simulate.replay_vectors import incoming
from tests.simulate.replay_vectors import settings as typed

WORKLOAD_EVERY = 5
MAX_BATCHES, MAX_BYTES = 250, 500_000
START_MS = 1_700_000_000_000
NEVER = 2**63 - 1
WEEK_MS = 604_800_000
ENDS_A_HISTORY = ("IllegalArgumentException", "LogSegmentOffsetOverflowException")
OTHER_STEPS = ("restart", "crash", "truncateTo", "deleteRecords")
CODECS = ("none", "none", "none", "gzip", "snappy", "lz4", "zstd")
TIMES = ("steady", "steady", "steady", "backwards", "constant", "none", "from zero", "future")
# a load forgets a producer that was last heard of a day ago
RECENT = ("steady", "backwards", "constant", "future")


def history(seed: int, release: str) -> dict:
    """Returns one history as a question to the harness: a line of replays.jsonl.gz without the
    answers.

    The same for the same seed and release.
    """
    drawn = _Drawn(random.Random(f"{release} {seed}"), release)
    write = drawn.of_workload if seed % WORKLOAD_EVERY == 0 else drawn.history
    return write(f"{release}-{seed}")


def line_of(
    rows: np.ndarray, data: bytes, release: str, settings: dict, start_ms: int, is_leader: bool
) -> dict:
    """Returns rows of a stream and their bytes as a history of appends alone."""
    appends = np.split(rows, np.flatnonzero(np.diff(rows["append"])) + 1)
    return {
        "version": release,
        "mode": "leader" if is_leader else "follower",
        "settings": settings,
        "start_offset": int(rows["base_offset"][0]),
        "start_clock": start_ms,
        "steps": [_append_step(append) for append in appends],
        "appended_gz": zipped(data),
        "close_clock": int(rows["now_ms"][-1]) + 1000,
    }


def _append_step(rows: np.ndarray) -> dict:
    names = (
        *("base_offset", "last_offset", "size_bytes", "max_timestamp_ms", "base_timestamp_ms"),
        *("record_count", "attributes"),
    )
    batch_rows = [
        [row[0], row[1] - row[0], *row[2:]]
        for row in zip(*(rows[name].tolist() for name in names), strict=True)
    ]
    return {"op": "append", "now": int(rows["now_ms"][0]), "b": batch_rows}


class _Drawn:
    def __init__(self, draw: random.Random, release: str) -> None:
        self.draw, self.release = draw, release
        self.is_leader = draw.random() < 0.6
        self.magic = 2 if release != "3.9.0" or draw.random() < 0.6 else draw.choice([0, 1, 1])
        # which has no least
        self.size_name = "segment.bytes" if release == "3.9.0" else "internal.segment.bytes"
        self.settings = self._settings()
        self.now_ms = START_MS
        self.start_offset = draw.choice([0, 0, draw.randrange(1, 10**6), 2**40])
        self.times, self.codec = draw.choice(TIMES), draw.choice(CODECS)
        may_pack = self.magic == 1 and self.codec in ("gzip", "snappy", "lz4")
        is_compacted = "compact" in self.settings["cleanup.policy"]
        self.packs_messages = may_pack and not is_compacted and self._append_ms() is None
        self.value_bytes = draw.choice([10, 100, 100, 1000])
        self.has_producers = self.magic == 2 and self.times in RECENT and draw.random() < 0.5
        self.producers: dict[int, Producer] = {}
        self.next_producer_id = 1000
        self.steps: list[dict] = []
        self.data = bytearray()

    def history(self, name: str) -> dict:
        self._write()
        return {
            "id": name,
            "version": self.release,
            "mode": "leader" if self.is_leader else "follower",
            "settings": self.settings,
            "start_offset": self.start_offset,
            "start_clock": START_MS,
            "steps": self.steps,
            "appended_gz": zipped(bytes(self.data)),
            "close_clock": self.now_ms + 1000,
        }

    def of_workload(self, name: str) -> dict:
        """Appends the first batches of an included workload to a log of these settings."""
        self.settings |= {
            "cleanup.policy": "delete",
            "max.message.bytes": 10**8,
            self.size_name: self.draw.choice([50_000, 200_000]),
        }
        self.settings.pop("message.format.version", None)
        flow, release = preset(self.draw.choice(PRESETS)), versions.parse(self.release)
        config = log_config(typed(self.settings), release)
        seed = self.draw.randrange(2**31)
        behaviour = release_behaviour(release)
        chunk = next(chunks(flow, config, behaviour, seed, batches_per_chunk=MAX_BATCHES))
        rows = chunk.rows[np.cumsum(chunk.rows["size_bytes"]) < MAX_BYTES]
        data = bytes(chunk.data)[: int(rows["size_bytes"].sum())]
        return {"id": f"{name} {flow.topic}"} | line_of(
            rows, data, self.release, self.settings, flow.start_ms, flow.is_leader
        )

    def _settings(self) -> dict:
        draw = self.draw
        segment = draw.choice([3_000, 10_000, 10_000, 50_000, 200_000, 2**30])
        question = {
            self.size_name: segment,
            "segment.index.bytes": draw.choice(
                [12, 16, 24, 30, 36, 40, 48, 67, 100, 240, 1000, 4096, 100_000, 10_485_760]
            ),
            "index.interval.bytes": draw.choice(
                [0, 1, 50, 150, 150, 500, 1000, 4096, 4096, 100_000]
            ),
            "segment.ms": draw.choice([100, 1000, 60_000, WEEK_MS, WEEK_MS, WEEK_MS]),
            "segment.jitter.ms": 0,
            "preallocate": "true" if draw.random() < 0.2 and segment < 2**30 else "false",
            "message.timestamp.type": "LogAppendTime" if draw.random() < 0.2 else "CreateTime",
            "message.timestamp.after.max.ms": NEVER,
            "max.message.bytes": draw.choice([10**8, 10**8, 10**8, 2000]),
            "retention.ms": -1,
            "retention.bytes": -1,
            "cleanup.policy": draw.choice(
                ["delete", "delete", "delete", "compact", "compact,delete"]
            ),
            "max.compaction.lag.ms": draw.choice([NEVER, NEVER, 5000]),
        }
        if self.magic < 2:
            question["message.format.version"] = ("0.9.0", "0.10.2")[self.magic]
        return question

    # ---- the log that goes along

    def _write(self) -> None:
        release = versions.parse(self.release)
        self.config = log_config(typed(self.settings), release)
        try:
            self.log = UnifiedLog(
                self.config,
                release_behaviour(release),
                now_ms=START_MS,
                start_offset=self.start_offset,
                is_leader=self.is_leader,
                logs=MemoryLogs(),
            )
        except CannotLoad:
            return
        for _ in range(self.draw.randrange(10, 90)):
            self.now_ms += self.draw.choice([0, 1, 20, 20, 300, 2000, 100_000])
            other = self.draw.random() < 0.06
            if not (self._other(self.draw.choice(OTHER_STEPS)) if other else self._append()):
                return

    def _append(self) -> bool:
        by = self._producer()
        data = self._leader_append(by) if self.is_leader else self._follower_append()
        rows = incoming(data, len(self.steps), self.now_ms)
        self.steps.append(_append_step(rows))
        self.data += data
        try:
            self.log.append(rows, data)
        except AppendFailed as failed:
            return not any(name in str(failed.exception) for name in ENDS_A_HISTORY)
        if by.producer_id in self.producers:
            self._sent(by, rows)
        return True

    def _other(self, op: str) -> bool:
        end, start, draw = self.log.log_end_offset, self.log.log_start_offset, self.draw
        step: dict = {"op": op, "now": self.now_ms}
        self.steps.append(step)
        try:
            if op == "restart":
                self.log.close(self.now_ms, flushed=False)
                self.log.restart(self.now_ms)
            elif op == "crash":
                step["recovery_point"] = draw.choice([start, end, draw.randint(start, end)])
                self.log.restart(self.now_ms, recovery_point=step["recovery_point"])
            elif op == "truncateTo":
                step["offset"] = draw.randint(max(start, end - 50), end)
                self.log.truncate_to(step["offset"], self.now_ms)
            else:
                step["offset"] = draw.randint(start, end)
                self.log.delete_records(step["offset"], self.now_ms)
        except CannotLoad:
            return False
        if op in ("crash", "truncateTo"):
            self.producers.clear()  # their sequences are not the log's any more
        return True

    # ---- appends

    def _leader_append(self, by: Producer) -> bytes:
        end, append_ms = self.log.log_end_offset, self._append_ms()
        if self.magic == 2:
            return self._batch(end, by, append_ms)
        if self.packs_messages:
            return self._wrapper(end)
        count = self.draw.choice([1, 1, 2, 5])
        return b"".join(self._message(end + at, append_ms) for at in range(count))

    def _follower_append(self) -> bytes:
        """Returns the append of one fetch, with gaps where the leader's log was compacted."""
        offset, parts = self.log.log_end_offset, []
        for _ in range(self.draw.choice([1, 1, 2, 5, 20])):
            if self.draw.random() < 0.1:
                offset += self.draw.choice([1, 5, 1000])
            parts.append(self._follower_part(offset))
            offset = int(incoming(parts[-1], 0, 0)["last_offset"][-1]) + 1
        return b"".join(parts)

    def _follower_part(self, offset: int) -> bytes:
        if self.magic == 2:
            return self._batch(offset, NOBODY, self._append_ms())
        if self.packs_messages:
            return self._wrapper(offset)
        return self._message(offset, self._append_ms())

    def _append_ms(self) -> int | None:
        return self.now_ms if self.settings["message.timestamp.type"] == "LogAppendTime" else None

    def _batch(self, offset: int, by: Producer, append_ms: int | None) -> bytes:
        if by.is_transactional and by.sequence > 0 and self.draw.random() < 0.3:
            return batches.marker(offset, self.now_ms, self.draw.random() < 0.5, by, append_ms)
        count = self.draw.choice([1, 1, 3, 10, 30])
        times = self._times(count)
        records = [self._record(at, time - times[0]) for at, time in enumerate(times)]
        packed = self.draw.choice([self.codec, self.codec, "none"])
        lost = 0 if self.is_leader or self.draw.random() > 0.1 else self.draw.randrange(1, 20)
        stored = {"packed": packed, "append_ms": append_ms, "last_offset_delta": count - 1 + lost}
        return batches.v2(offset, records, times[0], by=by, **stored)

    def _record(self, offset_delta: int, delta_ms: int) -> Record:
        return Record(
            offset_delta=offset_delta,
            timestamp_delta_ms=delta_ms,
            key=self._key(),
            value=self._value(),
            headers=self._headers(),
        )

    def _message(self, offset: int, append_ms: int | None) -> bytes:
        return batches.message(
            self.magic, offset, self._key(), self._value() or b"", self._times(1)[0], append_ms
        )

    def _wrapper(self, offset: int) -> bytes:
        count = self.draw.choice([1, 3, 10])
        values = [self._value() or b"" for _ in range(count)]
        return batches.wrapper(offset, values, self._times(count), self.codec)

    def _times(self, count: int) -> list[int]:
        if self.times == "none":
            return [-1] * count
        steps = sorted(self.draw.randrange(0, 50) for _ in range(count))
        start = {
            "steady": self.now_ms - 50,
            "constant": START_MS,
            "backwards": self.now_ms - self.draw.randrange(50, 100_000),
            "from zero": self.now_ms - START_MS,
            "future": 2 * START_MS - self.now_ms,
        }[self.times]
        if self.times == "constant":
            return [start] * count
        if self.times == "backwards":
            self.draw.shuffle(steps)
        return [start + step for step in steps]

    def _key(self) -> bytes | None:
        """A compacted topic accepts no record without a key."""
        if self.settings["cleanup.policy"] == "delete" and self.draw.random() < 0.5:
            return None
        return f"key-{self.draw.randrange(50)}".encode()

    def _value(self) -> bytes | None:
        if self.draw.random() < 0.05:
            return None
        return self.draw.randbytes(self.draw.randrange(self.value_bytes))

    def _headers(self) -> tuple:
        if self.draw.random() < 0.05:
            return ("trace", self.draw.randbytes(8)), ("note", None)
        return ()

    # ---- producers

    def _producer(self) -> Producer:
        if not (self.has_producers and self.is_leader) or self.draw.random() < 0.3:
            return NOBODY
        if (len(self.producers) < 3 and self.draw.random() < 0.3) or not self.producers:
            self.producers[self.next_producer_id] = Producer(
                self.next_producer_id, 0, 0, self.draw.random() < 0.7
            )
            self.next_producer_id += 1
        return self.producers[self.draw.choice(list(self.producers))]

    def _sent(self, by: Producer, rows: np.ndarray) -> None:
        if not rows["attributes"][0] & batches.batch.CONTROL:
            sequence = by.sequence + int(rows["record_count"][0])
            self.producers[by.producer_id] = replace(by, sequence=sequence)

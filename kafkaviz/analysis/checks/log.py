"""The checks of a .log: are batches valid, records readable, and offsets ascending?

For example:

- The batch at byte 4096 stores the checksum 1a2b3c4d, but 99aa00ff is computed:
  batch-crc-mismatch.
- The batch at byte 9000 has offsets 3 to 7, but the batch before it ends with offset 480:
  offsets-not-increasing.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from kafkaviz.analysis.checks.facts import (
    MAX_RUNS,
    PartitionFacts,
    checksum_evidence,
    with_more_places,
)
from kafkaviz.analysis.checks.log_scan import MisplacedBatch, ScanState, UnreadRange
from kafkaviz.analysis.findings import CODES, TAIL_CODES, Evidence, Finding, with_cause
from kafkaviz.analysis.restart.recovery_scope import recovered_bases
from kafkaviz.analysis.segment.anatomy import Tail
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_start
from kafkaviz.format import batch_records, legacy_messages
from kafkaviz.format.batch import CRC_START, HEADER, LEGACY_HEADER, MAGIC_2
from kafkaviz.format.deep_scan import FAULTS, MESSAGE_CRC, OFFSETS, TIMES
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import Message, message
from kafkaviz.simulate.steps import MAX_LOG_BYTES

MAGICS = (0, 1, 2)
CRC_AT = field_start(HEADER, "crc")
LEGACY_CRC_START = field_start(LEGACY_HEADER, "magic")
SUMMED_BYTES = 16 << 20  # no checksum is computed for a larger batch
SHOWN_BYTES = 16  # the evidence shows this many bytes of a tail (bytes after the last batch)
TOO_LARGE = "batch-too-large"
UNOPENED = message("consequence.log_not_opened")
CUT_BY_HAND = message("next_step.cut_by_hand")
RESTORE = message("next_step.restore_segment")
RESTORE_BEFORE_CUT = message("next_step.restore_before_cut")
COPY_LOG = message("next_step.copy_log")
# a consequence and a next step; None: as findings.py lists for the code
Advice = tuple[Message | None, Message | None]
AS_LISTED: Advice = (None, None)
SEQUENCES = 2**31
MAX_OUT_OF_ORDER = 10


class OutOfOrderBatch(NamedTuple):
    """A batch whose producer epoch or sequence number is lower than expected."""

    row: np.void
    previous_epoch: int  # the producer epoch of the producer's previous batch
    # the last sequence number of the producer's previous batch; -1: the epoch is already lower, so
    # sequence numbers are not compared
    previous_sequence: int


class ProducerOrder:
    """Finds batches whose producer epoch or sequence number is lower than expected."""

    def __init__(self, expiration_ms: int) -> None:
        self._expiration_ms = expiration_ms
        self.out_of_order: list[OutOfOrderBatch] = []
        self.count = 0
        self._last_rows = np.empty(0)

    def take(self, rows: np.ndarray) -> None:
        is_producers = rows["crc_valid"] & (rows["magic"] >= MAGIC_2)
        is_producers &= rows["producer_id"] >= 0
        if not is_producers.any():
            return
        rows = rows[is_producers]
        if len(self._last_rows):
            rows = np.concatenate((self._last_rows, rows))
        rows = rows[np.argsort(rows["producer_id"], kind="stable")]
        has_sequence = rows["base_sequence"] >= 0
        is_back = self._is_comparable(rows) & (np.diff(rows["producer_epoch"].astype(np.int64)) < 0)
        for place in np.flatnonzero(is_back).tolist():
            self._keep(OutOfOrderBatch(rows[place + 1], int(rows["producer_epoch"][place]), -1))
        self._find_sequences(rows[has_sequence])
        # keep each producer's last batch, and its last batch with sequences
        is_last = _is_last(rows)
        is_last[np.flatnonzero(has_sequence)[_is_last(rows[has_sequence])]] = True
        self._last_rows = rows[is_last]

    def _find_sequences(self, rows: np.ndarray) -> None:
        if len(rows) < 2:
            return
        base = rows["base_sequence"].astype(np.int64)
        last = (base + rows["last_offset"] - rows["base_offset"]) % SEQUENCES
        distance = (base[1:] - last[:-1]) % SEQUENCES
        is_back = self._is_comparable(rows) & (base[1:] != 0)
        is_back &= rows["producer_epoch"][1:] == rows["producer_epoch"][:-1]
        is_back &= (distance == 0) | (distance > SEQUENCES // 2)
        for place in np.flatnonzero(is_back).tolist():
            previous_epoch = int(rows["producer_epoch"][place])
            self._keep(OutOfOrderBatch(rows[place + 1], previous_epoch, int(last[place])))

    def _is_comparable(self, rows: np.ndarray) -> np.ndarray:
        """Returns whether each row, except the last, can be compared with the next row.

        True if one producer wrote both batches less than `expiration_ms` apart. After that time,
        Kafka forgets a producer.
        """
        waited_ms = np.diff(rows["max_timestamp_ms"])
        return ~_is_last(rows)[:-1] & (waited_ms < self._expiration_ms)

    def _keep(self, batch: OutOfOrderBatch) -> None:
        self.count += 1
        if len(self.out_of_order) < MAX_OUT_OF_ORDER:
            self.out_of_order.append(batch)


def _is_last(rows: np.ndarray) -> np.ndarray:
    """Returns whether each row is the last one of its producer. Rows are ordered by producer."""
    is_last = np.ones(len(rows), bool)
    is_last[:-1] = rows["producer_id"][1:] != rows["producer_id"][:-1]
    return is_last


class LogCheck(BatchObserver[Iterator[Finding]]):
    def __init__(self, segment: LogSegment, facts: PartitionFacts, scan_state: ScanState) -> None:
        self._segment = segment
        self._facts = facts
        self._scan_state = scan_state
        self._rows: dict[str, list[np.void]] = defaultdict(list)
        self._counts: Counter[str] = Counter()
        self._producers = ProducerOrder(facts.producer_expiration_ms)

    def observe(self, batches: np.ndarray) -> None:
        has_valid_crc = batches["crc_valid"]
        is_known_magic = np.isin(batches["magic"], MAGICS)
        span = batches["last_offset"] - batches["base_offset"] + 1
        is_wrong_count = (batches["record_count"] < 0) | (batches["record_count"] > span)
        has_wrong_count = (batches["magic"] >= MAGIC_2) & has_valid_crc & is_wrong_count
        has_fault = has_valid_crc & ~np.isin(batches["fault"], (0, FAULTS.index(TOO_LARGE)))
        is_overflow = batches["is_sound"] & (
            batches["last_offset"] - self._segment.base_offset > MAX_RELATIVE_OFFSET
        )
        self._producers.take(batches)
        oddities = np.where(has_valid_crc & is_known_magic, batches["oddities"], 0)
        masks = {
            "messages": oddities & MESSAGE_CRC != 0,
            "times": oddities & TIMES != 0,
            "offsets": oddities & OFFSETS != 0,
            "magic": ~is_known_magic,
            "crc": ~has_valid_crc & is_known_magic,
            "count": has_wrong_count & is_known_magic,
            "fault": has_fault & ~has_wrong_count & is_known_magic,
            "overflow": is_overflow,
        }
        for name, mask in masks.items():
            indices = np.flatnonzero(mask)
            self._counts[name] += len(indices)
            room = MAX_RUNS - len(self._rows[name])
            self._rows[name] += [batches[index].copy() for index in indices[:room].tolist()]

    def result(self) -> Iterator[Finding]:
        makers = {
            "crc": self._crc_finding,
            "magic": self._magic_finding,
            "count": self._count_finding,
            "fault": self._fault_finding,
            "overflow": self._overflow_finding,
            "messages": self._message_finding,
            "times": self._times_finding,
            "offsets": self._offsets_finding,
        }
        for name, make_finding in makers.items():
            # one finding about an overflow is enough
            rows = self._rows[name][:1] if name == "overflow" else self._rows[name]
            for number, row in enumerate(rows, 1):
                more = self._counts[name] - len(rows) if number == len(rows) else 0
                yield make_finding(row, more)
        yield from self._producer_findings()
        yield from map(self._order_finding, self._scan_state.misplaced_batches[:MAX_RUNS])
        yield from map(self._unread_finding, self._scan_state.unread_ranges[:MAX_RUNS])
        if self._scan_state.tail is not None:
            yield self._tail_finding(self._scan_state.tail)

    def _batch_finding(
        self,
        code: str,
        row: np.void,
        problem: Message,
        evidence: Evidence,
        more: int = 0,
        *,
        advice: Advice = AS_LISTED,
    ) -> Finding:
        position = int(row["position"])
        first = int(row["base_offset"])
        last = int(row["last_offset"])
        text = message("finding.batch", byte=position, first=first, last=last, problem=problem)
        text = with_more_places(text, more)
        byte_range = (position, int(row["size_bytes"]))
        return self._finding(code, text, evidence, byte_range, advice)

    def _finding(
        self,
        code: str,
        text: Message,
        evidence: Evidence,
        byte_range: tuple[int, int],
        advice: Advice,
    ) -> Finding:
        """Returns a finding about the .log."""
        name = self._segment.log.name
        consequence, next_step = advice
        return self._facts.make_finding(
            code, name, text, evidence, byte_range, consequence=consequence, next_step=next_step
        )

    def _crc_finding(self, row: np.void, more: int) -> Finding:
        """Reads the batch again to compute its checksum, which `row` does not contain."""
        is_modern = row["magic"] >= MAGIC_2
        position = int(row["position"])
        size_bytes = int(row["size_bytes"])
        read_bytes = min(size_bytes, SUMMED_BYTES)
        data = file.read(self._segment.log.path, position, read_bytes)
        modern_crc = int.from_bytes(data[CRC_AT:CRC_START], "big")
        if not is_modern and len(data) > CRC_START and crc32c(data[CRC_START:]) == modern_crc:
            return self._magic_finding(row, more, message("evidence.magic_by_checksum"))
        crc = int(row["crc"])
        if len(data) < size_bytes:
            text = message("finding.crc_mismatch")
            evidence = Evidence(message("evidence.checksum", crc=crc), None, f"{crc:08x}")
        else:
            text = message("finding.crc_mismatch_of_size", size=size_bytes)
            evidence = checksum_evidence(
                message("evidence.stored_checksum", crc=crc),
                crc,
                crc32c(data[CRC_START:]) if is_modern else zlib.crc32(data[LEGACY_CRC_START:]),
            )
        code = "batch-crc-mismatch"
        advice = self._damage_advice(CODES[code].consequence, position)
        return self._batch_finding(code, row, text, evidence, more, advice=advice)

    def _magic_finding(self, row: np.void, more: int, expected: Message | None = None) -> Finding:
        magic = int(row["magic"])
        found_text = message("evidence.magic", magic=magic)
        expected = expected or message("evidence.known_magics")
        evidence = Evidence(found_text, expected, f"{magic & 0xFF:02x}")
        text = message("finding.bad_magic", magic=magic)
        return self._batch_finding("batch-bad-magic", row, text, evidence, more)

    def _count_finding(self, row: np.void, more: int) -> Finding:
        count = int(row["record_count"])
        max_count = int(row["last_offset"] - row["base_offset"]) + 1
        found_text = message("evidence.records", n=count)
        expected = message("evidence.records_at_most", n=max_count)
        evidence = Evidence(found_text, expected, f"{count & 0xFFFFFFFF:08x}")
        text = message("finding.record_count", n=count, most=max_count)
        return self._batch_finding("batch-record-count", row, text, evidence, more)

    def _fault_finding(self, row: np.void, more: int) -> Finding:
        fault = self._scan_state.faults.get(int(row["position"]))
        problem = fault.what if fault else message("finding.its_records_unreadable")
        found_text = problem
        if fault:
            found_text = message("evidence.at_byte", byte=fault.position, problem=problem)
        expected = message("evidence.whole_records", n=int(row["record_count"]))
        code = FAULTS[row["fault"]]
        text = message("finding.unreadable_records_because", problem=problem)
        if code == "decompress-failed":
            text = message("finding.cannot_be_decompressed", problem=problem)
        return self._batch_finding(code, row, text, Evidence(found_text, expected), more)

    def _overflow_finding(self, row: np.void, more: int) -> Finding:
        base = self._segment.base_offset
        evidence = Evidence(
            message("evidence.offset_in_segment_from", offset=int(row["last_offset"]), base=base),
            message("evidence.offset_up_to", offset=base + MAX_RELATIVE_OFFSET),
        )
        text = message("finding.offset_overflow")
        return self._batch_finding("offset-overflow", row, text, evidence, more)

    def _message_finding(self, row: np.void, more: int) -> Finding:
        messages = legacy_messages.read(self._segment.batch_bytes(int(row["position"])))
        wrong_rows = messages.rows[~legacy_messages.are_crcs_valid(messages)]
        offset = int(wrong_rows["offset"][0])
        crc = int(wrong_rows["crc"][0])
        start = int(wrong_rows["position"][0]) + LEGACY_CRC_START
        end = int(wrong_rows["position"][0] + wrong_rows["size_bytes"][0])
        found_text = message("evidence.message_checksum", crc=crc, offset=offset)
        computed_crc = zlib.crc32(memoryview(messages.data)[start:end])
        evidence = checksum_evidence(found_text, crc, computed_crc)
        text = message("finding.message_crc_mismatch", offset=offset)
        if len(wrong_rows) > 1:
            text = message("finding.message_crc_mismatches", n=len(wrong_rows), offset=offset)
        return self._batch_finding("message-crc-mismatch", row, text, evidence, more)

    def _times_finding(self, row: np.void, more: int) -> Finding:
        found_ms = int(row["max_timestamp_ms"])
        data = self._segment.batch_bytes(int(row["position"]))
        expected_ms = max(head.timestamp_ms for head in batch_records.heads(data))
        found_text = message("evidence.largest_timestamp", timestamp=found_ms)
        expected = message("evidence.largest_timestamp", timestamp=expected_ms)
        digits = f"{found_ms & (2**64 - 1):016x}"
        evidence = Evidence(found_text, expected, digits, f"{expected_ms & (2**64 - 1):016x}")
        key = "batch_timestamp_low" if found_ms < expected_ms else "batch_timestamp_high"
        text = message(f"finding.{key}", timestamp=found_ms, expected=expected_ms)
        return self._batch_finding("batch-timestamp-mismatch", row, text, evidence, more)

    def _offsets_finding(self, row: np.void, more: int) -> Finding:
        previous = -1
        offset = int(row["base_offset"]) - 1
        last = int(row["last_offset"])
        for head in batch_records.heads(self._segment.batch_bytes(int(row["position"]))):
            previous = offset
            offset = head.offset
            if offset <= previous or offset > last:
                break
        if offset <= previous:
            text = message("finding.record_offsets", offset=offset, previous=previous)
            expected = message("evidence.offset_after", offset=previous)
        else:
            text = message("finding.record_offsets_beyond", offset=offset, last=last)
            expected = message("evidence.offset_to", offset=last)
        evidence = Evidence(message("evidence.record_offset", offset=offset), expected)
        return self._batch_finding("record-offsets-not-increasing", row, text, evidence, more)

    def _producer_findings(self) -> Iterator[Finding]:
        batches = self._producers.out_of_order
        for number, (row, previous_epoch, previous_sequence) in enumerate(batches, 1):
            producer = int(row["producer_id"])
            epoch = int(row["producer_epoch"])
            sequence = int(row["base_sequence"])
            if previous_sequence < 0:  # the epoch went back
                text = message(
                    "finding.producer_epoch_back",
                    epoch=epoch,
                    producer=producer,
                    expected=previous_epoch,
                )
                found_text = message("evidence.producer_epoch", epoch=epoch)
                expected = message("evidence.producer_epoch_at_least", epoch=previous_epoch)
            else:
                text = message(
                    "finding.producer_sequence_back",
                    sequence=sequence,
                    producer=producer,
                    previous=previous_sequence,
                )
                found_text = message("evidence.sequence", sequence=sequence)
                next_sequence = (previous_sequence + 1) % SEQUENCES
                expected = message("evidence.sequence", sequence=next_sequence)
            more = self._producers.count - number if number == MAX_OUT_OF_ORDER else 0
            evidence = Evidence(found_text, expected)
            yield self._batch_finding("producer-out-of-order", row, text, evidence, more)

    def _order_finding(self, misplaced: MisplacedBatch) -> Finding:
        row = misplaced.row
        base = self._segment.base_offset
        first = int(row["base_offset"])
        previous = misplaced.previous_offset
        found_text = message("evidence.base_offset", offset=first)
        expected = message("evidence.offset_above", offset=previous)
        digits = f"{first & (2**64 - 1):016x}"
        evidence = Evidence(found_text, expected, digits, f"{max(previous + 1, 0):016x}")
        if first < base:
            code = "offset-below-base"
            text = message("finding.below_base_offset", offset=base)
        elif row["last_offset"] - base > MAX_RELATIVE_OFFSET:
            code = "offset-overflow"
            text = message("finding.offset_overflow")
        else:
            code = "offsets-not-increasing"
            text = message("finding.offsets_not_increasing", offset=previous)
            text = with_cause(code, text, self._facts.release)
        return self._batch_finding(code, row, text, evidence)

    def _unread_finding(self, unread_range: UnreadRange) -> Finding:
        start = unread_range.start
        stop = unread_range.stop
        size_bytes = stop - start
        expected = unread_range.expected_length
        if expected is None:
            text = message("finding.size_no_batch", size=size_bytes, byte=start, next=stop)
            found_text = message("evidence.size_no_batch", size=size_bytes)
            evidence = Evidence(found_text, message("evidence.a_batch"))
        else:
            stored = cast(int, unread_range.stored_length)
            text = message("finding.bad_length", byte=start, n=stored, expected=expected)
            found_text = message("evidence.length", n=stored)
            expected_text = message("evidence.length_to_next", n=expected)
            digits = f"{stored & 0xFFFFFFFF:08x}"
            evidence = Evidence(found_text, expected_text, digits, f"{expected:08x}")
        code = "batch-bad-length"
        advice = self._damage_advice(CODES[code].consequence, start)
        return self._finding(code, text, evidence, (start, size_bytes), advice)

    def _tail_finding(self, tail: Tail) -> Finding:
        code = TAIL_CODES[tail.kind]
        first_bytes = file.read(self._segment.log.path, tail.position, SHOWN_BYTES)
        evidence = Evidence(
            tail.summary, message("evidence.end_of_file", byte=tail.position), first_bytes.hex()
        )
        tail_place: dict[str, Any] = {"tail": tail.summary, "byte": tail.position}
        if tail.kind == "torn":
            text = message("finding.torn_tail", n=tail.size_bytes, **tail_place)
        elif tail.kind == "zeros" and self._segment.state != "active":
            text = message("finding.unflushed_tail", why=CODES[code].cause, **tail_place)
        else:
            text = message("finding.tail", **tail_place)
        byte_range = (tail.position, tail.size_bytes)
        return self._finding(code, text, evidence, byte_range, self._tail_advice(tail))

    def _tail_advice(self, tail: Tail) -> Advice:
        is_closed = self._segment.state != "active"
        if is_closed or self._is_too_long_to_open():
            readers = message(f"consequence.closed_tail_{tail.kind}")
            consequence, next_step = self._damage_advice(readers, tail.position)
            if tail.kind == "zeros" and consequence.key == "consequence.damage":
                return consequence, CUT_BY_HAND  # the tail was preallocated: no record is lost
            return consequence, next_step
        if self._is_always_recovered() or self._is_unclean():
            return message("consequence.recovery_cuts_tail"), COPY_LOG
        return AS_LISTED

    def _damage_advice(self, readers: Message, position: int) -> tuple[Message, Message]:
        """Returns the consequence and the next step for damage that stops a recovery.

        After an unclean shutdown, a broker recovers the segments from the recovery point on. If the
        broker truncates a segment, it deletes all later segments (LogLoader, 4.3.1 and 4.4.0).

        `readers` says how the damage affects readers. `position` is the first damaged byte of the
        .log.
        """
        if self._is_too_long_to_open():
            return UNOPENED, CUT_BY_HAND if position <= MAX_LOG_BYTES else RESTORE
        if self._is_always_recovered():
            return message("consequence.recovery_cuts_tail"), COPY_LOG
        is_closed = self._segment.state != "active"
        first_recovered = self._facts.first_recovered
        next_step = message("next_step.restore_closed_segment")
        if first_recovered is None:
            outcome = message("consequence.damage_perhaps_cut")
        elif self._segment.base_offset < first_recovered:
            outcome = message("consequence.damage_stays", first=first_recovered)
        elif self._is_unclean():
            outcome = message("consequence.damage_cut")
            next_step = RESTORE_BEFORE_CUT
        else:
            outcome = message("consequence.damage_unnoticed")
            if not is_closed:
                next_step = message("next_step.restore_or_recover")
        return message("consequence.damage", readers=readers, outcome=outcome), next_step

    def _is_always_recovered(self) -> bool:
        bases = recovered_bases(
            (self._segment,), clean=True, recovery_point=None, release=self._facts.release
        )
        return bool(bases)

    def _is_too_long_to_open(self) -> bool:
        return self._segment.is_in_use and self._segment.log.size_bytes > MAX_LOG_BYTES

    def _is_unclean(self) -> bool:
        """Returns whether broker start-up recovers the log as after an unclean shutdown.

        Always true for the metadata log in a broker directory (KafkaRaftLog).
        """
        clean = self._facts.clean
        return clean is False or (self._facts.metadata_log and clean is not None)

"""The checks of a .log: is each batch whole, do its records read, do offsets go on from batch to
batch?

    position 4096   stored checksum 1a2b3c4d, computed 99aa00ff         batch-crc-mismatch
    position 9000   offsets 3 to 7 behind a batch that ended with 480   offsets-not-increasing
"""

import zlib
from collections.abc import Iterator
from typing import cast

import numpy as np

from kafkaviz.analysis.checks.facts import MOST_RUNS, UNFLUSHED_CUT, PartitionFacts, describe_more
from kafkaviz.analysis.checks.log_scan import BatchChunk, Break, MisplacedBatch, ScanState
from kafkaviz.analysis.existing_file import existing_file
from kafkaviz.analysis.finding import Evidence, Finding
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_start
from kafkaviz.format.batch import CRC_START, HEADER, LEGACY_HEADER, MAGIC_2
from kafkaviz.format.deep_scan import FAULTS
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.log import file
from kafkaviz.log.segment import Segment
from kafkaviz.simulate.stored import MOST_LOG_BYTES
from kafkaviz.units import group, size

MAGICS = (0, 1, 2)
LENGTH_AT, MAGIC_AT = field_start(HEADER, "batch_length_bytes"), field_start(HEADER, "magic")
CRC_AT, LEGACY_CRC_AT = field_start(HEADER, "crc"), field_start(LEGACY_HEADER, "crc")
LEGACY_CRC_START = field_start(LEGACY_HEADER, "magic")
SUMMED_BYTES = 16 << 20  # of a larger batch the computed checksum is not told
SHOWN_BYTES = 16  # of a tail
TAILS = {"zeros": "log-zero-tail", "torn": "log-torn-tail", "garbage": "log-garbage-tail"}
TOO_LARGE = "batch-too-large"
UNOPENED = (
    "No start opens a .log of more than 2147483647 bytes, so none comes to cut them off, and the "
    "broker does not start"
)
CUT_BY_HAND = (
    "With the broker stopped, copy the .log, then cut it yourself where its last batch ends "
    "(truncate -s)"
)
RESTORE = (
    "Restore the segment from another replica; no start opens it, and cut at its last batch it is "
    "still too large"
)


class LogCheck:
    """Takes the batches of a segment, and says what is wrong with its .log."""

    def __init__(self, segment: Segment, facts: PartitionFacts) -> None:
        """Nothing is taken yet."""
        self._segment, self._facts = segment, facts
        self._rows: dict[str, list[np.void]] = {
            "crc": [],
            "magic": [],
            "count": [],
            "fault": [],
            "overflow": [],
        }
        self._counts = dict.fromkeys(self._rows, 0)

    def add(self, chunk: BatchChunk) -> None:
        """The next batches."""
        batches, has_valid_crc = chunk.batches, chunk.batches["crc_valid"]
        is_known_magic = np.isin(batches["magic"], MAGICS)
        span = batches["last_offset"] - batches["base_offset"] + 1
        has_wrong_count = (
            (batches["magic"] >= MAGIC_2)
            & has_valid_crc
            & ((batches["record_count"] < 0) | (batches["record_count"] > span))
        )
        has_fault = (
            (batches["fault"] != 0) & (batches["fault"] != FAULTS.index(TOO_LARGE)) & has_valid_crc
        )
        is_overflow = chunk.is_sound & (
            batches["last_offset"] - self._segment.base_offset > MAX_RELATIVE_OFFSET
        )
        masks = {
            "magic": ~is_known_magic,
            "crc": ~has_valid_crc & is_known_magic,
            "count": has_wrong_count & is_known_magic,
            "fault": has_fault & ~has_wrong_count & is_known_magic,
            "overflow": is_overflow,
        }
        for name, rows in masks.items():
            self._keep(name, batches, rows)

    def _keep(self, name: str, batches: np.ndarray, mask: np.ndarray) -> None:
        indices = np.flatnonzero(mask)
        self._counts[name] += len(indices)
        room = MOST_RUNS - len(self._rows[name])
        self._rows[name] += [batches[index].copy() for index in indices[:room].tolist()]

    def findings(self, scan_state: ScanState) -> Iterator[Finding]:
        """What is wrong, once all batches were taken."""
        yield from (self._crc_finding(row, more) for row, more in self._rows_with_more("crc"))
        yield from (self._magic_finding(row, more) for row, more in self._rows_with_more("magic"))
        yield from (self._count_finding(row, more) for row, more in self._rows_with_more("count"))
        yield from (
            self._fault_finding(row, scan_state, more)
            for row, more in self._rows_with_more("fault")
        )
        yield from (
            self._overflow_finding(row, more) for row, more in self._first_with_more("overflow")
        )
        yield from (
            self._order_finding(misplaced) for misplaced in scan_state.misplaced_batches[:MOST_RUNS]
        )
        yield from (self._break_finding(log_break) for log_break in scan_state.breaks[:MOST_RUNS])
        yield from self._tail_findings(scan_state)

    def _rows_with_more(self, name: str) -> Iterator[tuple[np.void, int]]:
        rows = self._rows[name]
        for index, row in enumerate(rows):
            yield row, self._counts[name] - len(rows) if index == len(rows) - 1 else 0

    def _first_with_more(self, name: str) -> Iterator[tuple[np.void, int]]:
        for row in self._rows[name][:1]:
            yield row, self._counts[name] - 1

    def _batch_finding(
        self, code: str, row: np.void, message: str, evidence: Evidence, more: int = 0
    ) -> Finding:
        """A finding about one batch."""
        offsets = f"offsets {group(int(row['base_offset']))} to {group(int(row['last_offset']))}"
        where = f"the batch at byte {group(int(row['position']))} ({offsets})"
        byte_range = int(row["position"]), int(row["size_bytes"])
        return self._facts.make_finding(
            code,
            existing_file(self._segment.log).name,
            f"{where} {message}{describe_more(more)}",
            evidence,
            byte_range,
        )

    def _crc_finding(self, row: np.void, more: int) -> Finding:
        is_modern = row["magic"] >= MAGIC_2
        data = file.read(
            existing_file(self._segment.log).path,
            int(row["position"]),
            min(int(row["size_bytes"]), SUMMED_BYTES),
        )
        if (
            not is_modern
            and len(data) > CRC_START
            and crc32c(data[CRC_START:]) == int.from_bytes(data[CRC_AT:CRC_START], "big")
        ):
            return self._magic_finding(row, more, "2, with which its checksum is right")
        stored_crc = int(row["crc"])
        if len(data) < row["size_bytes"]:
            evidence = Evidence(f"checksum {stored_crc}", "", f"{stored_crc:08x}")
            return self._batch_finding(
                "batch-crc-mismatch", row, "does not match its checksum", evidence, more
            )
        computed_crc = (
            crc32c(data[CRC_START:]) if is_modern else zlib.crc32(data[LEGACY_CRC_START:])
        )
        evidence = Evidence(
            f"stored checksum {stored_crc}",
            f"{computed_crc}, computed from its bytes",
            f"{stored_crc:08x}",
            f"{computed_crc:08x}",
        )
        message = (
            f"does not match its checksum: something in its {size(int(row['size_bytes']))} was "
            "changed or lost"
        )
        return self._batch_finding("batch-crc-mismatch", row, message, evidence, more)

    def _magic_finding(self, row: np.void, more: int, expected: str = "0, 1 or 2") -> Finding:
        magic = int(row["magic"])
        evidence = Evidence(f"magic {magic}", expected, f"{magic & 0xFF:02x}")
        return self._batch_finding(
            "batch-bad-magic", row, f"says that it is of magic {magic}", evidence, more
        )

    def _count_finding(self, row: np.void, more: int) -> Finding:
        count, max_count = (
            int(row["record_count"]),
            int(row["last_offset"] - row["base_offset"]) + 1,
        )
        evidence = Evidence(
            f"{group(count)} records",
            f"0 to {group(max_count)}, as many as it has offsets",
            f"{count & 0xFFFFFFFF:08x}",
        )
        return self._batch_finding(
            "batch-record-count",
            row,
            f"says that it holds {group(count)} records in {group(max_count)} offsets",
            evidence,
            more,
        )

    def _fault_finding(self, row: np.void, scan_state: ScanState, more: int) -> Finding:
        fault = scan_state.faults.get(int(row["position"]))
        problem = fault.what if fault else "its records cannot be read"
        where = f"byte {group(fault.position)}: " if fault else ""
        expected = f"{group(int(row['record_count']))} whole records"
        code = FAULTS[row["fault"]]
        message = (
            "holds records that cannot be read"
            if code != "decompress-failed"
            else "cannot be decompressed"
        )
        return self._batch_finding(
            code, row, f"{message}: {problem}", Evidence(f"{where}{problem}", expected), more
        )

    def _overflow_finding(self, row: np.void, more: int) -> Finding:
        base = self._segment.base_offset
        expected_text = f"an offset up to {group(base + MAX_RELATIVE_OFFSET)}"
        evidence = Evidence(
            f"offset {group(int(row['last_offset']))} in a segment from {group(base)} on",
            expected_text,
        )
        return self._batch_finding(
            "offset-overflow",
            row,
            "lies more than 2 147 483 647 offsets above its segment's base offset",
            evidence,
            more,
        )

    def _order_finding(self, misplaced: MisplacedBatch) -> Finding:
        row, base = misplaced.row, self._segment.base_offset
        digits, expected = (
            f"{int(row['base_offset']) & (2**64 - 1):016x}",
            f"an offset above {group(misplaced.previous_offset)}",
        )
        evidence = Evidence(
            f"base offset {group(int(row['base_offset']))}",
            expected,
            digits,
            f"{max(misplaced.previous_offset + 1, 0):016x}",
        )
        if row["base_offset"] < base:
            return self._batch_finding(
                "offset-below-base",
                row,
                f"begins below its segment's base offset {group(base)}",
                evidence,
            )
        if row["last_offset"] - base > MAX_RELATIVE_OFFSET:
            return self._batch_finding(
                "offset-overflow",
                row,
                "lies more than 2 147 483 647 offsets above its segment's base offset",
                evidence,
            )
        message = (
            f"does not go on from its neighbours: {group(misplaced.previous_offset)} is the last "
            "offset before it"
        )
        return self._batch_finding("offsets-not-increasing", row, message, evidence)

    def _break_finding(self, log_break: Break) -> Finding:
        length = log_break.resume_position - log_break.position
        if log_break.expected_length is None:
            found_text, digits = f"{size(length)} that are no batch", ("", "")
            message = (
                f"{size(length)} from byte {group(log_break.position)} on are no batch; the next "
                f"one begins at byte {group(log_break.resume_position)}"
            )
            expected = "a batch"
        else:
            found_text, expected = (
                f"a length of {group(log_break.stored_length)}",
                f"{group(log_break.expected_length)}: there the next batch begins",
            )
            digits = (
                f"{cast(int, log_break.stored_length) & 0xFFFFFFFF:08x}",
                f"{log_break.expected_length:08x}",
            )
            lengths_text = (
                f"{group(log_break.stored_length)}, not {group(log_break.expected_length)}"
            )
            message = (
                f"the batch at byte {group(log_break.position)} says that its length is "
                f"{lengths_text}"
            )
        evidence = Evidence(found_text, expected, *digits)
        return self._facts.make_finding(
            "batch-bad-length",
            existing_file(self._segment.log).name,
            message,
            evidence,
            (log_break.position, length),
        )

    def _tail_findings(self, scan_state: ScanState) -> Iterator[Finding]:
        if scan_state.tail is None:
            return
        position, length = scan_state.tail.position, scan_state.tail.size_bytes
        first_bytes = file.read(existing_file(self._segment.log).path, position, SHOWN_BYTES)
        name, evidence = (
            existing_file(self._segment.log).name,
            Evidence(
                scan_state.tail.summary,
                f"the end of the file at byte {group(position)}",
                first_bytes.hex(),
            ),
        )
        length_text = (
            f": {group(length)} byte{' of it is' if length == 1 else 's of it are'} there"
            if scan_state.tail.kind == "torn"
            else ""
        )
        if scan_state.tail.kind == "zeros" and self._segment.state != "active":
            length_text = f"; {UNFLUSHED_CUT}"
        message = f"{scan_state.tail.summary}, from byte {group(position)} on{length_text}"
        advice = (
            ("The next start recovers this log and cuts them off", "Copy the .log first")
            if self._will_be_cut()
            else ("", "")
        )
        advice = (
            (UNOPENED, CUT_BY_HAND if position <= MOST_LOG_BYTES else RESTORE)
            if self._is_refused()
            else advice
        )
        code = TAILS[scan_state.tail.kind]
        yield self._facts.make_finding(
            code,
            name,
            message,
            evidence,
            (position, length),
            consequence=advice[0],
            next_step=advice[1],
        )

    def _is_refused(self) -> bool:
        """Whether no start opens it, so that none comes to cut it."""
        return (
            self._segment.is_in_use and existing_file(self._segment.log).size_bytes > MOST_LOG_BYTES
        )

    def _will_be_cut(self) -> bool:
        """Whether a start is sure to look: it recovers the last segment of every log that was not
        stopped cleanly.
        """
        return self._facts.clean is False and self._segment.state == "active"

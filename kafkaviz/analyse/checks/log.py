"""The checks of a .log: is each batch whole, do its records read, do offsets go on from batch to
batch?

    position 4096   stored checksum 1a2b3c4d, computed 99aa00ff         batch-crc-mismatch
    position 9000   offsets 3 to 7 behind a batch that ended with 480   offsets-not-increasing
"""

import zlib
from collections.abc import Iterator
from typing import cast

import numpy as np

from kafkaviz.analyse.checks.facts import MOST_RUNS, UNFLUSHED_CUT, Facts, and_more
from kafkaviz.analyse.checks.reading import Break, Chunk, Misplaced, Reading
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_start
from kafkaviz.format.batch import CRC_START, HEADER, LEGACY_HEADER, MAGIC_2
from kafkaviz.format.deep_scan import FAULTS
from kafkaviz.format.offset_index import MOST_RELATIVE
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


class Watch:
    """Takes the batches of a segment, and says what is wrong with its .log."""

    def __init__(self, segment: Segment, facts: Facts) -> None:
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

    def add(self, chunk: Chunk) -> None:
        """The next batches."""
        batches, right = chunk.batches, chunk.batches["crc_valid"]
        magic = np.isin(batches["magic"], MAGICS)
        span = batches["last_offset"] - batches["base_offset"] + 1
        count = (
            (batches["magic"] >= MAGIC_2)
            & right
            & ((batches["record_count"] < 0) | (batches["record_count"] > span))
        )
        faulty = (batches["fault"] != 0) & (batches["fault"] != FAULTS.index(TOO_LARGE)) & right
        overflow = chunk.sound & (
            batches["last_offset"] - self._segment.base_offset > MOST_RELATIVE
        )
        wrong = {
            "magic": ~magic,
            "crc": ~right & magic,
            "count": count & magic,
            "fault": faulty & ~count & magic,
            "overflow": overflow,
        }
        for name, rows in wrong.items():
            self._keep(name, batches, rows)

    def _keep(self, name: str, batches: np.ndarray, wrong: np.ndarray) -> None:
        places = np.flatnonzero(wrong)
        self._counts[name] += len(places)
        room = MOST_RUNS - len(self._rows[name])
        self._rows[name] += [batches[place].copy() for place in places[:room].tolist()]

    def findings(self, reading: Reading) -> Iterator[Finding]:
        """What is wrong, once all batches were taken."""
        yield from (self._crc(row, more) for row, more in self._each("crc"))
        yield from (self._magic(row, more) for row, more in self._each("magic"))
        yield from (self._count(row, more) for row, more in self._each("count"))
        yield from (self._fault(row, reading, more) for row, more in self._each("fault"))
        yield from (self._overflow(row, more) for row, more in self._first("overflow"))
        yield from (self._misplaced(one) for one in reading.misplaced[:MOST_RUNS])
        yield from (self._break(one) for one in reading.breaks[:MOST_RUNS])
        yield from self._tail(reading)

    def _each(self, name: str) -> Iterator[tuple[np.void, int]]:
        rows = self._rows[name]
        for at, row in enumerate(rows):
            yield row, self._counts[name] - len(rows) if at == len(rows) - 1 else 0

    def _first(self, name: str) -> Iterator[tuple[np.void, int]]:
        for row in self._rows[name][:1]:
            yield row, self._counts[name] - 1

    def _found(
        self, code: str, row: np.void, message: str, evidence: Evidence, more: int = 0
    ) -> Finding:
        """A finding about one batch."""
        offsets = f"offsets {group(int(row['base_offset']))} to {group(int(row['last_offset']))}"
        where = f"the batch at byte {group(int(row['position']))} ({offsets})"
        place = int(row["position"]), int(row["size_bytes"])
        return self._facts.found(
            code,
            existing(self._segment.log).name,
            f"{where} {message}{and_more(more)}",
            evidence,
            *place,
        )

    def _crc(self, row: np.void, more: int) -> Finding:
        modern = row["magic"] >= MAGIC_2
        data = file.read(
            existing(self._segment.log).path,
            int(row["position"]),
            min(int(row["size_bytes"]), SUMMED_BYTES),
        )
        if (
            not modern
            and len(data) > CRC_START
            and crc32c(data[CRC_START:]) == int.from_bytes(data[CRC_AT:CRC_START], "big")
        ):
            return self._magic(row, more, "2, with which its checksum is right")
        stored = int(row["crc"])
        if len(data) < row["size_bytes"]:
            evidence = Evidence(f"checksum {stored}", "", f"{stored:08x}")
            return self._found(
                "batch-crc-mismatch", row, "does not match its checksum", evidence, more
            )
        computed = crc32c(data[CRC_START:]) if modern else zlib.crc32(data[LEGACY_CRC_START:])
        evidence = Evidence(
            f"stored checksum {stored}",
            f"{computed}, computed from its bytes",
            f"{stored:08x}",
            f"{computed:08x}",
        )
        message = (
            f"does not match its checksum: something in its {size(int(row['size_bytes']))} was "
            "changed or lost"
        )
        return self._found("batch-crc-mismatch", row, message, evidence, more)

    def _magic(self, row: np.void, more: int, expected: str = "0, 1 or 2") -> Finding:
        magic = int(row["magic"])
        evidence = Evidence(f"magic {magic}", expected, f"{magic & 0xFF:02x}")
        return self._found(
            "batch-bad-magic", row, f"says that it is of magic {magic}", evidence, more
        )

    def _count(self, row: np.void, more: int) -> Finding:
        count, most = int(row["record_count"]), int(row["last_offset"] - row["base_offset"]) + 1
        evidence = Evidence(
            f"{group(count)} records",
            f"0 to {group(most)}, as many as it has offsets",
            f"{count & 0xFFFFFFFF:08x}",
        )
        return self._found(
            "batch-record-count",
            row,
            f"says that it holds {group(count)} records in {group(most)} offsets",
            evidence,
            more,
        )

    def _fault(self, row: np.void, reading: Reading, more: int) -> Finding:
        fault = reading.faults.get(int(row["position"]))
        words = fault.what if fault else "its records cannot be read"
        at = f"byte {group(fault.position)}: " if fault else ""
        expected = f"{group(int(row['record_count']))} whole records"
        code = FAULTS[row["fault"]]
        message = (
            "holds records that cannot be read"
            if code != "decompress-failed"
            else "cannot be decompressed"
        )
        return self._found(
            code, row, f"{message}: {words}", Evidence(f"{at}{words}", expected), more
        )

    def _overflow(self, row: np.void, more: int) -> Finding:
        base = self._segment.base_offset
        most = f"an offset up to {group(base + MOST_RELATIVE)}"
        evidence = Evidence(
            f"offset {group(int(row['last_offset']))} in a segment from {group(base)} on", most
        )
        return self._found(
            "offset-overflow",
            row,
            "lies more than 2 147 483 647 offsets above its segment's base offset",
            evidence,
            more,
        )

    def _misplaced(self, one: Misplaced) -> Finding:
        row, base = one.row, self._segment.base_offset
        digits, expected = (
            f"{int(row['base_offset']) & (2**64 - 1):016x}",
            f"an offset above {group(one.after)}",
        )
        evidence = Evidence(
            f"base offset {group(int(row['base_offset']))}",
            expected,
            digits,
            f"{max(one.after + 1, 0):016x}",
        )
        if row["base_offset"] < base:
            return self._found(
                "offset-below-base",
                row,
                f"begins below its segment's base offset {group(base)}",
                evidence,
            )
        if row["last_offset"] - base > MOST_RELATIVE:
            return self._found(
                "offset-overflow",
                row,
                "lies more than 2 147 483 647 offsets above its segment's base offset",
                evidence,
            )
        message = (
            f"does not go on from its neighbours: {group(one.after)} is the last offset before it"
        )
        return self._found("offsets-not-increasing", row, message, evidence)

    def _break(self, one: Break) -> Finding:
        length = one.resumed - one.position
        if one.length_expected is None:
            words, digits = f"{size(length)} that are no batch", ("", "")
            message = (
                f"{size(length)} from byte {group(one.position)} on are no batch; the next one "
                f"begins at byte {group(one.resumed)}"
            )
            expected = "a batch"
        else:
            words, expected = (
                f"a length of {group(one.length_found)}",
                f"{group(one.length_expected)}: there the next batch begins",
            )
            digits = f"{cast(int, one.length_found) & 0xFFFFFFFF:08x}", f"{one.length_expected:08x}"
            instead = f"{group(one.length_found)}, not {group(one.length_expected)}"
            message = f"the batch at byte {group(one.position)} says that its length is {instead}"
        evidence = Evidence(words, expected, *digits)
        return self._facts.found(
            "batch-bad-length",
            existing(self._segment.log).name,
            message,
            evidence,
            one.position,
            length,
        )

    def _tail(self, reading: Reading) -> Iterator[Finding]:
        if reading.tail is None:
            return
        position, length = reading.tail.position, reading.tail.size_bytes
        begin = file.read(existing(self._segment.log).path, position, SHOWN_BYTES)
        name, evidence = (
            existing(self._segment.log).name,
            Evidence(
                reading.tail.words, f"the end of the file at byte {group(position)}", begin.hex()
            ),
        )
        there = (
            f": {group(length)} byte{' of it is' if length == 1 else 's of it are'} there"
            if reading.tail.kind == "torn"
            else ""
        )
        if reading.tail.kind == "zeros" and self._segment.state != "active":
            there = f"; {UNFLUSHED_CUT}"
        message = f"{reading.tail.words}, from byte {group(position)} on{there}"
        words = (
            ("The next start recovers this log and cuts them off", "Copy the .log first")
            if self._will_be_cut()
            else ("", "")
        )
        words = (
            (UNOPENED, CUT_BY_HAND if position <= MOST_LOG_BYTES else RESTORE)
            if self._is_refused()
            else words
        )
        code = TAILS[reading.tail.kind]
        yield self._facts.found(
            code,
            name,
            message,
            evidence,
            position,
            length,
            consequence=words[0],
            next_step=words[1],
        )

    def _is_refused(self) -> bool:
        """Whether no start opens it, so that none comes to cut it."""
        return self._segment.in_use and existing(self._segment.log).size_bytes > MOST_LOG_BYTES

    def _will_be_cut(self) -> bool:
        """Whether a start is sure to look: it recovers the last segment of every log that was not
        stopped cleanly.
        """
        return self._facts.clean is False and self._segment.state == "active"

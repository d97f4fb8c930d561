"""The output of `kafkaviz dump`: equal to that of Kafka's DumpLogSegments 4.3.1, or JSON.

Where Kafka's tool throws, the text output raises JavaException with the same text.
"""

from collections import defaultdict
from dataclasses import KW_ONLY, dataclass, field
from typing import BinaryIO

from kafkaviz.cli.dumping.java import hash_order
from kafkaviz.log.archives import archive
from kafkaviz.units import escape_controls

STRING_DECODER = "org.apache.kafka.tools.api.StringDecoder"
# if several are given, the first one in this order is used
DECODERS = (
    "offsets",
    "transaction-log",
    "cluster-metadata",
    "remote-log-metadata",
    "share-group-state",
)
MAX_INT = 2**31 - 1
MAX_MESSAGE_BYTES = 5 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class DumpOptions:
    """The options of Kafka's tool, under Kafka's names.

    Attributes:
        decoder: one of `DECODERS`; None to use `key_decoder_class` and `value_decoder_class`.
        prints: whether keys and values are printed.
        deep: whether records are printed.
        max_bytes: the most bytes to read from a .log; MAX_INT: all.
    """

    files: tuple[str, ...] = ()
    _: KW_ONLY
    prints: bool = False
    deep: bool = False
    decoder: str | None = None
    key_decoder_class: str = STRING_DECODER
    value_decoder_class: str = STRING_DECODER
    skip_record_metadata: bool = False
    max_bytes: int = MAX_INT
    max_message_bytes: int = MAX_MESSAGE_BYTES
    verify_index_only: bool = False
    index_sanity_check: bool = False


BLOCK_BYTES = 1 << 20
Pairs = defaultdict[str, dict[int, int]]
Lists = defaultdict[str, list[tuple[int, int]]]


class ReaderGone(Exception):
    """The program that reads stdout has closed it.

    Not an OSError, which would count as a fault of the dumped file.
    """


class Console:
    """Writes to stdout and stderr, and keeps the order of lines between the two."""

    def __init__(self, out: BinaryIO, err: BinaryIO) -> None:
        self._out = out
        self._err = err
        self._pending = []
        self._pending_bytes = 0

    def write(self, part: bytes | memoryview) -> None:
        """Prints bytes, now or in a later call. The caller must not change `part` afterwards."""
        self._pending.append(part)
        self._pending_bytes += len(part)
        if self._pending_bytes >= BLOCK_BYTES:
            self.flush()

    def line(self, text: str) -> None:
        """Prints a line. Undecodable bytes of file names are printed unchanged."""
        self.write(f"{text}\n".encode("utf-8", "surrogateescape"))

    def write_error(self, text: str) -> None:
        self.flush()
        self._err.write(_escape_for_terminal(self._err, text.encode("utf-8", "surrogateescape")))
        self._err.flush()

    def flush(self) -> None:
        data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        self._pending = []
        self._pending_bytes = 0
        try:
            self._out.write(_escape_for_terminal(self._out, data))
            self._out.flush()
        except BrokenPipeError:
            raise ReaderGone from None


def _escape_for_terminal(stream: BinaryIO, data: bytes) -> bytes:
    """Returns `data`. If `stream` is a terminal, escapes control characters (unlike Kafka)."""
    if not stream.isatty():
        return data
    text = escape_controls(bytes(data).decode("utf-8", "surrogateescape"))
    return text.replace("\r", "\\r").encode()


@dataclass
class Report:
    """The faults that are printed after the dump. Each dictionary has absolute paths as keys.

    Attributes:
        mismatches: per wrong entry of an .index: its offset, and the offset found in the .log.
        timestamp_mismatches, out_of_order, not_found: wrong entries of a .timeindex, in file order.
            An entry may be in several lists.
        non_consecutive: per gap in a .log: the offset before the gap, and the offset after it. A
            second gap after the same offset replaces the first.
    """

    mismatches: Pairs = field(default_factory=lambda: defaultdict(dict))
    timestamp_mismatches: Lists = field(default_factory=lambda: defaultdict(list))
    out_of_order: Lists = field(default_factory=lambda: defaultdict(list))
    not_found: Lists = field(default_factory=lambda: defaultdict(list))
    non_consecutive: Pairs = field(default_factory=lambda: defaultdict(dict))

    def text(self) -> str:
        """Returns the report as DumpLogSegments 4.3.1 prints it, in the order of its hash map."""
        sections = (
            ("Mismatches in :", self.mismatches, "  Index offset: {}, log offset: {}"),
            ("Found timestamp mismatch in :", self.timestamp_mismatches,
             "  Index timestamp: {}, log timestamp: {}"),
            ("Found out of order timestamp in :", self.out_of_order,
             "  Index timestamp: {}, Previously indexed timestamp: {}"),
            ("The following indexed offsets are not found in :", self.not_found,
             "Indexed offset: {}, found log offset: {}"),
            ("Non-consecutive offsets in ", self.non_consecutive, "  {} is followed by {}"),
        )  # fmt: skip
        lines = []
        for head, entries, line in sections:
            for path in hash_order(entries):
                pairs = entries[path]
                if isinstance(pairs, dict):
                    pairs = sorted(pairs.items(), reverse=entries is self.mismatches)
                lines.append(head + archive.display_text(path))
                lines += [line.format(*pair) for pair in pairs]
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class TextDump:
    """The options, the output and the faults of a dump as text."""

    options: DumpOptions
    console: Console
    report: Report

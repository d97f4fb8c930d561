"""The faults that a dump finds; collected while it prints, reported at the end on stderr."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kafkaviz.cli.dumping.java import hash_order
from kafkaviz.log.archives import archive

Pairs = dict[str, dict[int, int]]
Lists = dict[str, list[tuple[int, int]]]


@dataclass
class Report:
    """Faults by the absolute path of their file.

    Attributes:
        mismatches: the offsets of an .index, each with the offset in the log.
        timestamp_mismatches, out_of_order, not_found: for a .timeindex, in its order; an entry
            may occur twice.
        non_consecutive: the offsets in a .log that a gap follows, each with the next offset. A
            second gap after the same offset replaces the first.
    """

    mismatches: Pairs = field(default_factory=dict)
    timestamp_mismatches: Lists = field(default_factory=dict)
    out_of_order: Lists = field(default_factory=dict)
    not_found: Lists = field(default_factory=dict)
    non_consecutive: Pairs = field(default_factory=dict)

    def text(self) -> str:
        """Returns the report as DumpLogSegments 4.3.1 prints it.

        The files are in the order of its hash maps.
        """
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _group(
            "Mismatches in :", self.mismatches, _descending, "  Index offset: {}, log offset: {}"
        )
        yield from _group(
            "Found timestamp mismatch in :",
            self.timestamp_mismatches,
            iter,
            "  Index timestamp: {}, log timestamp: {}",
        )
        order_line = "  Index timestamp: {}, Previously indexed timestamp: {}"
        yield from _group("Found out of order timestamp in :", self.out_of_order, iter, order_line)
        not_found_line = "Indexed offset: {}, found log offset: {}"
        yield from _group(
            "The following indexed offsets are not found in :", self.not_found, iter, not_found_line
        )
        yield from _group(
            "Non-consecutive offsets in ",
            self.non_consecutive,
            _ascending,
            "  {} is followed by {}",
        )


def _group(head: str, entries: Pairs | Lists, pairs: Callable, line: str) -> Iterator[str]:
    for path in hash_order(entries):
        yield head + archive.display_text(path)
        yield from (line.format(*pair) for pair in pairs(entries[path]))


def _ascending(pairs: dict[int, int]) -> list[tuple[int, int]]:
    return sorted(pairs.items())


def _descending(pairs: dict[int, int]) -> list[tuple[int, int]]:
    return sorted(pairs.items(), reverse=True)

"""What a picture of segments says of a topic-partition: what was found about it, the worst first,
one mark a code.

What the next start does about it is left out, unless it fails: after a kill that is true of every
topic-partition.

    of([("orders-0", "orders-0/00000000000000000858.index", "index-offset-mismatch", "error")])
    {"orders-0": (Mark(code="index-offset-mismatch", severity="error", base_offsets=(858,)),)}
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from kafkaviz.analyse.finding import CODES, FAMILIES, INFO, SEVERITIES, Finding
from kafkaviz.format import names

READS = ("directory", "file", "code", "severity")  # of a finding
FORETOLD = ("recovery-will-truncate", "recovery-will-rebuild", "recovery-will-delete")


class Mark(NamedTuple):
    """All findings of one code about one topic-partition."""

    code: str
    severity: str
    # of the segments whose files it is about; none where it is about the directory
    base_offsets: tuple[int, ...] = ()


def of(rows: Iterable[tuple[str | None, str | None, str, str]]) -> dict[str, tuple[Mark, ...]]:
    """The marks by topic-partition directory; rows: READS of each finding.

    What is mere information is no mark.
    """
    told: dict[str, dict[tuple[str, str], set[int]]] = defaultdict(lambda: defaultdict(set))
    for directory, file, code, severity in rows:
        if directory is None or severity == INFO or code in FORETOLD:
            continue
        base_offsets = told[directory][code, severity]
        if (named := names.parse_file((file or "").rpartition("/")[2])) is not None:
            base_offsets.add(named.base_offset)
    return {directory: _in_order(codes) for directory, codes in told.items()}


def found(findings: Iterable[Finding]) -> dict[str, tuple[Mark, ...]]:
    """The same of findings themselves."""
    return of((one.partition, one.file, one.code, one.severity) for one in findings)


def _in_order(codes: dict[tuple[str, str], set[int]]) -> tuple[Mark, ...]:
    marks = [
        Mark(code, severity, tuple(sorted(base_offsets)))
        for (code, severity), base_offsets in codes.items()
    ]
    return tuple(
        sorted(
            marks,
            key=lambda mark: (
                SEVERITIES.index(mark.severity),
                FAMILIES.index(CODES[mark.code].family),
                mark.code,
            ),
        )
    )

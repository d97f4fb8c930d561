"""The badges of a topic-partition on the map, one per finding code.

The worst badge comes first. Findings that predict a recovery give no badge, because every
topic-partition has them after an unclean shutdown. For example:

    badges_from_rows(
        [("orders-0", None, "orders-0/0…0858.index", "index-offset-mismatch", "error")],
        broker,
    )
    {"orders-0": (Badge("index-offset-mismatch", "error", base_offsets=(858,)),)}
"""

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple

from kafkaviz.analysis.findings import CODES, FAMILIES, INFO, SEVERITIES, Finding
from kafkaviz.format import names
from kafkaviz.log.broker import Broker

RECOVERY_CODES = ("recovery-will-truncate", "recovery-will-rebuild", "recovery-will-delete")
# the columns of a finding from which a badge is made
FINDING_COLUMNS = ("directory", "log_directory", "file", "code", "severity")


class Badge(NamedTuple):
    """All findings with one code about one topic-partition."""

    code: str
    severity: str
    # the segments with such a finding; empty if the finding is about the directory
    base_offsets: tuple[int, ...] = ()


def badges_from_rows(
    rows: Iterable[tuple[str | None, str | None, str | None, str, str]], broker: Broker
) -> dict[str, tuple[Badge, ...]]:
    """Returns the badges of each topic-partition, by `Broker.partition_name`.

    `rows` has the FINDING_COLUMNS of each finding. Findings of severity "info" give no badge.
    """
    offsets_by_code: dict[str, dict[tuple[str, str], set[int]]] = {}
    names_of_two = {
        (broker.directory_of(partition).text, partition.directory): name
        for partition in broker.partitions
        if (name := broker.partition_name(partition)) != partition.directory
    }
    for directory, log_directory, file, code, severity in rows:
        if directory is None or severity == INFO or code in RECOVERY_CODES:
            continue
        name = names_of_two.get((log_directory or "", directory), directory)
        base_offsets = offsets_by_code.setdefault(name, {}).setdefault((code, severity), set())
        if (segment_name := names.parse_file((file or "").rpartition("/")[2])) is not None:
            base_offsets.add(segment_name.base_offset)
    return {directory: _sort_badges(codes) for directory, codes in offsets_by_code.items()}


def badges_from_findings(
    findings: Iterable[Finding], broker: Broker
) -> dict[str, tuple[Badge, ...]]:
    columns = attrgetter("partition", "log_directory", "file", "code", "severity")
    return badges_from_rows(map(columns, findings), broker)


def _sort_badges(codes: dict[tuple[str, str], set[int]]) -> tuple[Badge, ...]:
    def sort_key(badge: Badge) -> tuple[int, int, str]:
        family = FAMILIES.index(CODES[badge.code].family)
        return SEVERITIES.index(badge.severity), family, badge.code

    badges = [
        Badge(code, severity, tuple(sorted(base_offsets)))
        for (code, severity), base_offsets in codes.items()
    ]
    return tuple(sorted(badges, key=sort_key))

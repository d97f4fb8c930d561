"""Findings and start-up steps as rows of the catalog, and badges that summarize findings.

A row has English texts for SQL users. Its column `json` has the complete finding or step, which
`from_row` and `step_from_row` read. An unknown code, cause, severity or action raises ValueError.

A badge is a mark in a picture of a topic-partition. It stands for all findings with one code.
The worst badge comes first. A predicted recovery gives no badge, because every topic-partition has
such findings after an unclean shutdown. For example:

    badges_from_rows(
        [("orders-0", None, "orders-0/0…0858.index", "index-offset-mismatch", "error")],
        broker,
    )
    {"orders-0": (Badge("index-offset-mismatch", "error", base_offsets=(858,)),)}
"""

import json
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from kafkaviz.analysis import json_objects
from kafkaviz.analysis.findings import CODES, FAMILIES, INFO, SEVERITIES, Finding
from kafkaviz.analysis.serialization import encode, from_plain
from kafkaviz.format import names
from kafkaviz.log.broker import Broker
from kafkaviz.simulate.steps import ACTIONS, CAUSES, StartupStep

T = TypeVar("T")
# the columns of a finding from which a badge is made
FINDING_COLUMNS = ("directory", "log_directory", "file", "code", "severity")
RECOVERY_CODES = ("recovery-will-truncate", "recovery-will-rebuild", "recovery-will-delete")


def to_row(finding: Finding) -> dict[str, Any]:
    """Returns the finding as a row of catalog.schema.FINDINGS, from the column `code` on."""
    row = json_objects.to_json_object(finding)
    evidence = row.pop("evidence")
    del row["log_directory"]  # the column `json` has it
    return row | {
        "directory": row.pop("partition"),
        "evidence": finding.evidence.text,
        "evidence_found": evidence["found"],
        "evidence_expected": evidence["expected"],
        "found_hex": evidence["found_hex"],
        "expected_hex": evidence["expected_hex"],
        "json": encode(finding),
    }


def from_row(row: Mapping[str, Any]) -> Finding:
    """Returns the finding that a row was made from."""
    return _require_finding(_from_json(Finding, row["json"]))


def findings_from_plain(plain: object) -> tuple[Finding, ...]:
    """Returns the findings from the result of `serialization.to_plain`."""
    return tuple(map(_require_finding, from_plain(tuple[Finding, ...], plain)))


def step_to_row(step: StartupStep) -> dict[str, Any]:
    """Returns a start-up step as a row of schema.RESTART_STEPS, from the column `directory` on."""
    row = json_objects.to_json_object(step)
    del row["log_directory"]  # the column `json` has it
    return row | {
        "directory": row.pop("partition"),
        "segment_base_offset": row.pop("segment"),
        "json": encode(step),
    }


def step_from_row(row: Mapping[str, Any]) -> StartupStep:
    """Returns the start-up step from which `step_to_row` made a row."""
    return _require_step(_from_json(StartupStep, row["json"]))


def steps_from_json(text: str) -> tuple[StartupStep, ...]:
    """Returns the steps from the result of `serialization.encode`."""
    return tuple(map(_require_step, _from_json(tuple[StartupStep, ...], text)))


def _require_finding(finding: Finding) -> Finding:
    if finding.code not in CODES or finding.severity not in SEVERITIES:
        raise ValueError(f"{finding.code}, {finding.severity} is no finding")
    return finding


def _require_step(step: StartupStep) -> StartupStep:
    if step.action not in ACTIONS or step.cause not in CAUSES:
        raise ValueError(f"{step.action}, {step.cause} is no step of a start")
    return step


def _from_json(value_type: type[T], text: object) -> T:
    try:
        return from_plain(value_type, json.loads(text))  # ty: ignore[invalid-argument-type]
    except (TypeError, RecursionError) as fault:
        raise ValueError(f"no {value_type.__name__}: {fault}") from None


class Badge(NamedTuple):
    """All findings with one code about one topic-partition."""

    code: str
    severity: str
    # the segments with such a finding; empty if the finding is about the directory
    base_offsets: tuple[int, ...] = ()


def badges_from_rows(
    rows: Iterable[tuple[str | None, str | None, str | None, str, str]], broker: Broker
) -> dict[str, tuple[Badge, ...]]:
    """Returns the badges by `Broker.partition_name`, from the FINDING_COLUMNS of findings.

    Findings of severity "info" give no badge.
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

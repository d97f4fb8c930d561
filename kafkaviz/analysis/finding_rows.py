"""Findings and start-up steps as rows of the catalog.

A row has English texts for SQL users. Its column `json` has the complete finding or step, which
`from_row` and `step_from_row` read. An unknown code, cause, severity or action raises ValueError.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from kafkaviz.analysis import json_objects
from kafkaviz.analysis.findings import CODES, SEVERITIES, Finding
from kafkaviz.analysis.serialization import encode, from_plain
from kafkaviz.simulate.steps import ACTIONS, CAUSES, StartupStep

T = TypeVar("T")


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

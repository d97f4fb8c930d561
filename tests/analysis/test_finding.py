"""The list of codes and its words."""

import ast
from pathlib import Path

import pytest

from kafkaviz.analysis import checks
from kafkaviz.analysis.findings import (
    CODES,
    FAMILIES,
    TAIL_CODES,
    Evidence,
    as_info,
    counts,
    finding,
    sort_findings,
)
from kafkaviz.format.deep_scan import FAULTS
from kafkaviz.messages import message, verbatim

NOTHING = Evidence(message("evidence.no_file"))


def test_every_code_says_what_kafka_does_and_what_to_do():
    """A sentence of the table ends without a full stop, so that sentences can be joined."""
    for row in CODES.values():
        assert row.family in FAMILIES and row.title and row.consequence and row.next_step
        assert not any(
            text.endswith((".", " ")) or "  " in text
            for text in map(str, (row.title, row.consequence, row.next_step))
        )


@pytest.mark.parametrize(
    ("release", "key"),
    [
        ((), "consequence.index_not_monotonic"),
        ((4, 3, 1), "consequence.index_not_monotonic"),
        ((2, 2), "consequence.sanity_check"),
    ],
)
def test_the_consequence_is_that_of_the_release(release, key):
    """Up to 2.2 a start checked the indexes (KAFKA-7283)."""
    not_monotonic = finding("index-not-monotonic", verbatim(""), NOTHING, release=release)
    assert not_monotonic.consequence == message(key)


def test_the_worst_comes_first():
    """By severity, then by place; an unknown place comes before a known one."""
    info = finding("index-coarse", "", NOTHING, partition="a-0")
    late = finding("index-not-monotonic", "", NOTHING, partition="b-0", file="x", position=8)
    early = finding("index-not-monotonic", "", NOTHING, partition="b-0", file="x")
    warning = finding("index-missing", "", NOTHING, partition="a-0")
    assert sort_findings([info, late, warning, early]) == (early, late, warning, info)
    assert counts([info, late, warning, early]) == {"error": 2, "warning": 1, "info": 1}
    assert {finding.severity for finding in as_info([info, late, warning])} == {"info"}


def test_evidence_reads_as_one_line():
    evidence = Evidence(verbatim("offset 3"), verbatim("offset 2"), "00000003", "00000002")
    assert evidence.text == "found offset 3 (00000003). expected offset 2 (00000002)."
    assert NOTHING.text == "found no file."


# the modules of checks/ that do not have the name of their family, as checks/__init__.py lists them
FAMILY_OF = {
    "log_gaps": "log",
    "aborted_transactions": "other_files",
    "broker_files": "other_files",
    "kraft_files": "other_files",
    "unreadable_files": "other_files",
}


def test_a_family_is_found_by_its_name():
    """Each code is found in the module of its family, such as checks/time.py."""
    root, rooms = Path(checks.__file__).parent, {}
    for path in root.rglob("*.py"):
        room = path.relative_to(root).parts[0].removesuffix(".py")
        quoted = {
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant)
        }
        for code in CODES.keys() & {word for word in quoted if isinstance(word, str)}:
            rooms.setdefault(code, set()).add(FAMILY_OF.get(room, room).replace("_", "-"))
    # causes of a start have names of codes
    told_by = {code: room - {"state"} or room for code, room in rooms.items()}
    assert told_by == {code: {row.family} for code, row in CODES.items() if code in told_by}
    # the faults are named by deep_scan, and the tails by findings.py
    assert CODES.keys() - told_by <= {*FAULTS, *TAIL_CODES.values()}

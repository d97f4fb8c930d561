"""The table of differences between releases: each boundary, and its patch releases."""

import ast
import re
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path

import pytest

from kafkaviz import versions
from kafkaviz.simulate.config import release_behaviour
from tests.support import sources


@pytest.mark.parametrize(
    ("way", "first", "before"),
    [
        (versions.LAST_OFFSET_KEYS, (2, 0), (1, 1)),
        (versions.WARM_SEARCH, (2, 1), (2, 0)),
        (versions.INDEXES_TRUSTED, (2, 3), (2, 2)),
        (versions.SHALLOW_TIME_OFFSETS, (3, 7), (3, 6)),
        (versions.BATCH_BASE_METADATA, (4, 0), (3, 9, 2)),
        (versions.BASE_OFFSET_SCAN, (4, 1), (4, 0, 2)),
        (versions.TRIMMED_BEFORE_CLOSE, (4, 4), (4, 3, 1)),
    ],
)
def test_a_way_begins_with_its_release(way, first, before):
    """kafka-storage: the first release that does it, and the last that does not."""
    assert way.applies_to(first) and way.applies_to((4, 4, 0)) and not way.applies_to(before)


def test_an_entry_a_batch_came_in_patches():
    """KAFKA-806: in 3.9.1 and 3.9.2, not in 4.0.0, again from 4.0.1 on."""
    has_it = {
        **{(3, 8): False, (3, 9): False, (3, 9, 0): False, (3, 9, 1): True, (3, 9, 2): True},
        **{(4, 0): False, (4, 0, 0): False, (4, 0, 1): True, (4, 1): True, (4, 3, 1): True},
    }
    assert {release: versions.ENTRY_PER_BATCH.applies_to(release) for release in has_it} == has_it


@pytest.mark.parametrize(
    ("fault", "faulty", "sound"),
    [
        (versions.OFFSETS_GIVEN_TWICE, "2.3 3.9.2 4.0.0", "2.2 4.0.1 4.1.0"),
        (versions.MOVED_LOG_CLOSED, "1.1 3.9.2 4.0.1 4.1.1", "1.0 4.0.2 4.1.2 4.2.0"),
    ],
)
def test_a_fault_ends_with_the_patch_of_each_branch(fault, faulty, sound):
    """LogSegment.readMaxTimestampAndOffsetSoFar and LogManager.replaceCurrentWithFutureLog."""
    assert all(fault.applies_to(versions.parse(text)) for text in faulty.split())
    assert not any(fault.applies_to(versions.parse(text)) for text in sound.split())


def test_both_profiles_are_made_of_the_table():
    """A search and a writer of 2.0, which have different halves of it."""
    assert not versions.search_profile("2.0").is_warm
    assert versions.search_profile("2.1").is_warm
    assert astuple(release_behaviour((1, 1)))[1:] == (True, True, True, True, False, True)
    assert astuple(release_behaviour((4, 3, 1)))[1:] == (False, False, False, False, True, True)
    assert astuple(release_behaviour((4, 4, 0)))[1:] == (False, False, False, False, True, False)


TABLES = ("kafkaviz/versions.py", "kafkaviz/config_def.py")
OTHER_VERSIONS = ("kafkaviz/format/", "kafkaviz/pipeline/")  # of a record's fields, and of Java
SOURCES = [path for path in sources.FILES if sources.place(path) not in TABLES]


def is_release(node: ast.expr, name: str) -> bool:
    """Returns whether an expression is a release: by its name, its maker, or numbers in brackets."""
    if isinstance(node, ast.Tuple):
        return all(
            isinstance(element, ast.Constant) and type(element.value) is int
            for element in node.elts
        )
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) == "versions.parse"
    called = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return called.lower().endswith("release") or (
        called.lower().endswith("version") and not name.startswith(OTHER_VERSIONS)
    )


def compared(nodes: Iterable[ast.AST], name: str) -> list[str]:
    """Returns the comparisons with a release, as before or after another."""
    comparisons = (node for node in nodes if isinstance(node, ast.Compare))
    return [
        ast.unparse(node)
        for node in comparisons
        if isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        if any(is_release(operand, name) for operand in (node.left, *node.comparators))
    ]


def test_no_file_knows_the_release_of_a_change_by_itself():
    assert len(SOURCES) > 300
    comparisons = {path: compared(sources.nodes(path), sources.place(path)) for path in SOURCES}
    assert {path: lines for path, lines in comparisons.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "release >= (2, 0)",
        "of.release < SINCE",
        "(3, 9) <= version",
        "versions.parse(text) > first",
    ],
)
def test_such_a_comparison_is_reported(line):
    """The ways in which one was written."""
    nodes = ast.walk(ast.parse(line))
    assert compared(nodes, "kafkaviz/analysis/broker_health.py") == [line]


def test_every_behaviour_is_applied():
    """The table's own file asks too, for the profile of a search."""
    ways = {
        name
        for name, behaviour in vars(versions).items()
        if isinstance(behaviour, versions.Behaviour)
    }
    used = set(re.findall(r"(\w+)\.applies_to", Path(versions.__file__).read_text()))
    for path in SOURCES:
        for node in sources.nodes(path):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                    used.add(name)
    assert len(ways) > 20 and ways - used == set()

"""FIDELITY.md names existing tests, a release in every row, and tests that need recordings."""

import ast
import re
from functools import cache
from pathlib import Path

from kafkaviz.analysis.findings import CODES
from tests.support.cases import all_cases

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "FIDELITY.md").read_text(encoding="utf-8")
TEST_REFERENCE = re.compile(r"(† )?`(tests/[\w/]+\.py)::(\w+)`")
ROWS = [
    line
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith(("| What", "|---"))
]


@cache
def functions(path: str) -> dict[str, ast.FunctionDef]:
    """Returns the functions of a test module, by name."""
    file = ROOT / path
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def needs_recordings(path: str, name: str) -> bool:
    """Returns whether a test needs the recorded directories, itself or by a fixture."""
    arguments = {argument.arg for argument in functions(path)[name].args.args}
    return "shared" in arguments or any(
        argument in functions(path) and needs_recordings(path, argument) for argument in arguments
    )


def test_a_referenced_test_exists():
    references = {(path, name) for _, path, name in TEST_REFERENCE.findall(TEXT)}
    assert [
        (path, name)
        for path, name in sorted(references)
        if not name.startswith("test_") or name not in functions(path)
    ] == []


@all_cases("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:60])
def test_a_row_has_a_test_and_a_release(row):
    """The claim, the test that shows it, and the Kafka release that it was compared with."""
    _, claim, tests, against, _ = row.split("|")
    assert claim.strip() and TEST_REFERENCE.search(tests) and re.search(r"\b\d+\.\d+", against)


def test_what_needs_the_recordings_is_marked():
    """A reader without them knows which tests are skipped."""
    references = [(bool(mark), path, name) for mark, path, name in TEST_REFERENCE.findall(TEXT)]
    assert len(references) > 50
    assert [
        (path, name) for mark, path, name in references if mark != needs_recordings(path, name)
    ] == []


@all_cases("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:60])
def test_a_row_has_a_test_that_runs_on_any_machine(row):
    """No claim depends only on tests that are skipped without the recorded directories."""
    assert [name for mark, _, name in TEST_REFERENCE.findall(row) if not mark]


def test_every_consequence_of_a_finding_was_seen_or_is_said_to_be_by_the_source():
    """Each code of a finding appears once; one that no test shows says so."""
    section = TEXT.partition("## The consequences of findings\n")[2].partition("\n## ")[0]
    by_source = section.partition("Known from Kafka's source alone")[2]
    names = re.findall(r"`([a-z]+(?:-[a-z0-9]+)+)`", re.sub(r"\| `tests/.*", "", section))
    assert sorted(name for name in names if name in CODES) == sorted(CODES)
    listed = re.findall(r"`([a-z-]+)`", by_source.partition(". ")[0])
    assert len(listed) > 10
    assert [
        name for name in listed if "according to Kafka's source" not in str(CODES[name].consequence)
    ] == []


def test_what_is_counted_by_our_own_readers_is_not_called_exact():
    """Totals that agree with one another prove nothing about Kafka; each test of them is named."""
    sections = {part.partition("\n")[0]: part for part in TEXT.split("\n## ")[1:]}
    path = "tests/pipeline/test_totals.py"
    references = {
        title: {name for _, file, name in TEST_REFERENCE.findall(part) if file == path}
        for title, part in sections.items()
    }
    assert {title for title, names in references.items() if names} == {"In agreement"}
    assert references["In agreement"] == {
        name for name in functions(path) if name.startswith("test_")
    }

"""One fact, one place: the names of Kafka's files, and duplicates that a reader would confuse."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from kafkaviz.format import java, names
from kafkaviz.log.broker import CHECKPOINTS, OWN_FILES
from tests.support import sources
from tests.support.sources import PACKAGE as ROOT

PARTITION_FILES = (names.LEADER_EPOCHS, names.PARTITION_METADATA, names.QUORUM_STATE)
LITERALS = (
    *OWN_FILES,
    *CHECKPOINTS.values(),
    *PARTITION_FILES,
    *names.NO_PARTITIONS,
    names.METADATA_TOPIC,
)


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    """Returns every parsed file of the package, by its path there."""
    package = {path: tree for path, tree in sources.trees().items() if ROOT in path.parents}
    return {path.relative_to(ROOT): tree for path, tree in package.items()}


@pytest.fixture(scope="module")
def literal_places(trees) -> dict[str, list[str]]:
    """Returns the files that have a text, by the text."""
    places = defaultdict(list)
    for path in trees:
        for node in sources.nodes(ROOT / path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                places[node.value].append(str(path))
    return places


@pytest.mark.parametrize("literal", dict.fromkeys(LITERALS))
def test_a_name_of_kafkas_is_typed_once(literal, literal_places):
    """In format/names.py, which the others import."""
    assert literal_places[literal] == ["format/names.py"]


@pytest.mark.parametrize("class_name", [java.ILLEGAL_ARGUMENT, java.INVALID_RECORD])
def test_a_class_of_what_kafka_throws_is_typed_once(class_name, literal_places):
    """Where it has its name."""
    assert literal_places[class_name] == ["format/java.py"]


@pytest.fixture(scope="module")
def cli_trees(trees) -> dict[Path, ast.Module]:
    cli = {path: tree for path, tree in trees.items() if path.parts[0] == "cli"}
    assert len([path for path in cli if len(path.parts) == 2]) >= 10
    return cli


CONSTANTS = (
    *(
        "CODECS",
        "CORRUPT_RECORD",
        "DAY_MS",
        "EXPECTED_CAUSES",
        "GIB",
        "HOUR_MS",
        "ILLEGAL_ARGUMENT",
        "INVALID_RECORD",
    ),
    *(
        "MAPS_PER_SEGMENT",
        "MAX_MAP_COUNT",
        "MAX_RELATIVE_OFFSET",
        "METADATA_TOPIC",
        "MIB",
        "MS_NS",
        "NO_PARTITIONS",
    ),
    *("SIDES", "TIMESTAMP_TYPES"),
)


@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_is_defined_once(constant, trees):
    """Others import it."""
    places = [
        f"{path}:{node.lineno}"
        for path, tree in trees.items()
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and node.id == constant
    ]
    assert len(places) == 1, places


@pytest.mark.parametrize(
    ("text", "home"),
    [
        # epochs that are newer than all before
        ("np.maximum.accumulate(np.concatenate([[", "simulate/recovery.py"),
        # bytes at hand, read by position
        ("piece = array[position : position + len(buffer)]", "binary/file_view.py"),
    ],
)
def test_a_loop_is_written_once(text, home, trees):
    """It is in the simulator; replaying has a clock that only goes forward."""
    places = [
        str(path)
        for path in trees
        if path.parts[0] in ("binary", "simulate") and text in sources.source(ROOT / path)
    ]
    assert [path for path in places if path != "simulate/directory/replay_stream.py"] == [home]


def test_batches_are_observed_by_a_method_of_one_name(trees):
    """The simulator keeps the state of a broker instead."""
    places = {
        f"{path} {owner.name}.{method.name}"
        for path, tree in trees.items()
        if "simulate" not in path.parts
        for owner in tree.body
        if isinstance(owner, ast.ClassDef)
        for method in owner.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("_")
        if [argument.arg for argument in method.args.args] == ["self", "batches"]
        if isinstance(method.returns, ast.Constant) and method.returns.value is None
        if method.name != "observe" or not owner.bases
    }
    assert places == set()


def test_what_an_option_takes_is_a_function_of_no_command(cli_trees):
    commands = {
        f"kafkaviz.cli.{path.stem}"
        for path in cli_trees
        if len(path.parts) == 2 and path.stem != "__init__"
    }
    places = {
        f"{path} imports {name}"
        for path, tree in cli_trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        if name in commands
    }
    assert places == set()


@pytest.mark.parametrize("key", ["offset_entries", "counted_by"])
def test_an_object_of_json_is_built_once(key, cli_trees):
    """Two commands that print it use one function."""
    paths = [
        path
        for path, tree in cli_trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for name in node.keys
        if isinstance(name, ast.Constant) and name.value == key
    ]
    assert paths == []


def test_the_slot_that_is_kept_is_taken_off_once(trees):
    """A time index is full one entry before its last slot: IndexConfig.usable_time_slots."""
    paths = [str(path) for path in trees if "time_slots - 1" in sources.source(ROOT / path)]
    assert paths == ["simulate/config.py"]

"""Partition directories with random damage: loads and dumps, compared with Kafka's own classes.

The damage is that of the fuzz set (tests/fuzz/mutators.py). Each directory is dumped by Kafka's
DumpLogSegments and by ours, and loaded by UnifiedLog and by LogLoader here.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import names
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.steps import StoredLog
from tests.cli.dumping.running import dumped
from tests.fuzz import seeds
from tests.fuzz.mutators import mutated_tree
from tests.fuzz.seeds import Tree
from tests.kafka.harness import Kafka
from tests.kafka.record_loads import Loads, write_directory

RELEASE = "4.3.1"
DIRECTORY = "orders-0"
NOW_MS = 1_790_000_000_000
# snapshots are compared by their offsets; a load makes an empty file of leader epochs, and what it
# deletes it renames at first
NOT_COMPARED = (".snapshot", ".deleted", names.LEADER_EPOCHS)
DUMPED = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


def differences_of(seed_numbers: range) -> Iterator[tuple[int, list[str]]]:
    with Kafka(RELEASE) as kafka, Loads(RELEASE) as loads:
        for seed in seed_numbers:
            with tempfile.TemporaryDirectory() as folder:
                yield seed, _compare(seed, Path(folder) / DIRECTORY, kafka, loads)


def draw_directory(draw: Random) -> Tree:
    """Returns the files of a damaged partition directory, by name."""
    trees = [tree for tree in seeds.partitions() if not next(iter(tree)).startswith("__cluster")]
    tree = mutated_tree(draw.choice(trees), draw)
    return {name.rpartition("/")[2]: data for name, data in tree.items() if "\0" not in name}


def _compare(seed: int, directory: Path, kafka: Kafka, loads: Loads) -> list[str]:
    draw = Random(seed)
    files = draw_directory(draw)
    write_directory(directory, files)
    dumped_names = sorted(name for name in files if name.endswith(DUMPED))
    differences = [text for name in dumped_names for text in _dump(directory, name, kafka)]
    question = {
        "clean": draw.random() < 0.5,
        "recovery_point": draw.choice((0, 0, 10, 1 << 40)),
        "log_start": draw.choice((0, 0, 0, 5)),
        "now": NOW_MS,
    }
    answer = loads.ask({"dir": str(directory), **question})
    return differences + [f"load {question}: {text}" for text in _load(files, question, answer)]


def _dump(directory: Path, name: str, kafka: Kafka) -> Iterator[str]:
    found = dumped(directory, ["--files", name, "--print-data-log"])
    names_before = set(os.listdir(directory))
    expected = kafka.dump("--files", str(directory / name), "--print-data-log")
    for created in set(os.listdir(directory)) - names_before:
        (directory / created).unlink()  # as an index that is not there is made by Kafka's tool
    out = expected["out"].replace(f"{directory}/", "")
    found_out = found.out.decode("utf-8", "replace")
    if out != found_out:
        lines = zip([*out.splitlines(), ""], [*found_out.splitlines(), ""], strict=False)
        first = next(((a, b) for a, b in lines if a != b), ("", "more lines"))
        yield f"dump {name}: Kafka {first[0][:400]!r}, here {first[1][:400]!r}"
    error = expected.get("error")
    text = f"{error['class']}: {error['message']}" if error and error["message"] else ""
    text = (
        (text or (error["class"] if error else ""))
        .replace(str(directory), "@DIR@")
        .replace("@DIR@/", "")
    )
    if bool(error) != bool(found.status) or text not in found.err.replace("@DIR@/", ""):
        yield f"dump {name}: Kafka throws {text!r}, here {found.err[:400]!r}"


def _load(files: Tree, question: dict, answer: dict) -> Iterator[str]:
    log = StoredLog(
        directory=f"<DIR>/{DIRECTORY}",
        files=tuple(in_memory(name, data) for name, data in files.items()),
        config=IndexConfig(),
        recovery_point=question["recovery_point"],
        log_start_offset=question["log_start"],
    )
    loader = LogLoader(log, clean=question["clean"], behaviour=release_behaviour((4, 3, 1)))
    failures = [step.error for step in loader.run() if step.action == "fail"]
    if "error" in answer:
        expected = answer["error"]["class"]
        if answer["error"]["message"] is not None:
            expected += f": {answer['error']['message']}"
        if failures != [expected]:
            yield f"Kafka throws {expected!r}, predicted is {failures}"
        return
    if failures:
        yield f"Kafka loads it, predicted is {failures}"
        return
    predicted = {name: file.size_bytes for name, file in loader.files().items()}
    found = {name: size for name, size in answer["files"].items() if size >= 0}
    logs = {name: size for name, size in found.items() if name.endswith(".log")}
    for what, expected, here in (
        ("log end", answer["log_end"], loader.log_end_offset()),
        ("sizes", logs, {name: predicted[name] for name in predicted if name.endswith(".log")}),
        (
            "files",
            sorted(name for name in found if not name.endswith(NOT_COMPARED)),
            sorted(name for name in predicted if not name.endswith(NOT_COMPARED)),
        ),
        (
            "snapshots",
            sorted(names.parse_offset(name) for name in found if name.endswith(".snapshot")),
            sorted(loader.snapshots()),
        ),
    ):
        if expected != here:
            yield f"{what}: Kafka {expected}, predicted {here}"

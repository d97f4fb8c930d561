"""Loads of damaged partition directories by Kafka 3.9.0, compared with the forecast for that
release.

The damage is that of record_loads: names of files, folders, transaction indexes and producer
snapshots. It compares whether the load ends, and with which exception.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from kafkaviz.binary.file_view import in_memory
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.steps import StoredLog
from tests.kafka import record_loads
from tests.kafka.harness import Kafka

RELEASE = "3.9.0"
DIRECTORY = "orders-0"


def differences() -> tuple[list[str], str]:
    source = record_loads.read_source()
    changes = [
        *(*record_loads.name_changes(), *record_loads.folder_changes()),
        *(*record_loads.txn_index_changes(), *record_loads.open_transaction_changes(source)),
    ]
    changes = [change for change in changes if _is_listed(change)]
    with Kafka(RELEASE) as kafka:
        faults = [fault for change in changes for fault in _compare(kafka, source, change)]
    return faults, f"Kafka {RELEASE}: {len(changes)} loads, {len(faults)} differ"


def _is_listed(change: dict) -> bool:
    """Returns whether the harness can list a loaded log."""
    names = (*change.get("folders", ()), *change.get("write", {}))
    is_index_folder = change.get("folders") and names[0].endswith(("index",))
    return not is_index_folder and not any(name.startswith("-5.log") for name in names)


def _compare(kafka: Kafka, source: dict[str, bytes], change: dict) -> Iterator[str]:
    files = record_loads.changed(source, change)
    folders = tuple(change.get("folders", ()))
    with tempfile.TemporaryDirectory() as folder:
        directory = record_loads.write_directory(Path(folder) / DIRECTORY, files, folders)
        error = kafka.load(directory, {}, 0, 0).get("error")
    log = StoredLog(
        directory=DIRECTORY,
        files=tuple(in_memory(name, data) for name, data in files.items()),
        config=IndexConfig(),
        folders=folders,
    )
    loader = LogLoader(log, clean=True, behaviour=release_behaviour((3, 9, 0)))
    failures = [step.error or "" for step in loader.run() if step.action == "fail"]
    expected = [error["class"]] if error else []
    if [failure.partition(":")[0] for failure in failures] != expected:
        yield f"Kafka {RELEASE} on {change}: Kafka throws {expected}, predicted is {failures}"

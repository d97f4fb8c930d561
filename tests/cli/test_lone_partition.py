"""An archive of one topic-partition gives every command the same as its directory."""

import json
import shutil
import tarfile
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.catalog import catalog
from tests.support.commands import refusal_of

PARTITION = "tiny-index-0"
# what opens a broker directory, and what a JSON of it says of the path alone
COMMANDS = {
    "check": (["--json"], ("directory", "log_directories", "freeing")),
    "report": (["-o", "OUT/r.html", "--json"], ("directory", "bytes", "sha256")),
    "tune": (["--json"], ("name",)),
    "rebuild": (["--out", "OUT", "--json"], ()),
    "lookup": (["--offset", "7", "--json"], ()),
}
PATHS = (PARTITION, "one.tar.gz", f"two.tar/{PARTITION}")


@pytest.fixture
def lone(clean, tmp_path) -> Path:
    """Returns a folder with the partition, an archive of it, and one of it and another."""
    folder = tmp_path / "lone"
    for name in (PARTITION, "nulls-0"):
        shutil.copytree(clean / name, folder / name)
    for packed, names in (("one.tar.gz", (PARTITION,)), ("two.tar", (PARTITION, "nulls-0"))):
        with tarfile.open(folder / packed, "w:gz" if packed.endswith("gz") else "w") as archive:
            for name in names:
                archive.add(folder / name, name)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_what_its_directory_is(command, lone, tmp_path, capsys):
    """Or one of several partitions that a path names, in the archive or next to it."""
    arguments, of_the_path = COMMANDS[command]
    answers = []
    for number, path in enumerate(PATHS):
        out = tmp_path / f"out-{number}"
        out.mkdir()
        line = [command, str(lone / path), *(text.replace("OUT", str(out)) for text in arguments)]
        assert main(line) == 0
        text = capsys.readouterr().out.replace(str(out), "OUT")
        answers.append(json.loads(text))
        for part in (answers[-1], *(answers[-1].get(name, {}) for name in ("source", "disk"))):
            for name in of_the_path:
                part.pop(name, None)
        if command == "tune":
            # the codec is chosen by times that were measured
            assert answers[-1].pop("codec") and answers[-1].pop("answer")
    assert answers[0] == answers[1] == answers[2]


def test_a_catalog_has_it_as_its_directory(lone, tmp_path, in_process, capsys):
    """The same findings, and none about a missing broker directory."""
    findings = []
    for number, path in enumerate(PATHS):
        out = tmp_path / f"catalog-{number}"
        assert main(["ingest", str(lone / path), "--catalog", str(out)]) == 0
        stored = catalog.read(out)
        health = stored.health(stored.info.sources[0].broker)
        findings.append([(finding.code, finding.file) for finding in health.findings])
    assert findings[0] == findings[1] == findings[2]


def test_an_archive_with_a_file_of_a_broker_is_a_broker(lone, clean):
    with tarfile.open(lone / "broker.tar", "w") as archive:
        archive.add(lone / PARTITION, PARTITION)
        archive.add(clean / "meta.properties", "meta.properties")
    opened = {name: open_broker(lone / name) for name in ("broker.tar", "one.tar.gz", "two.tar")}
    assert {name: broker.is_lone for name, broker in opened.items()} == {
        "broker.tar": False,
        "one.tar.gz": True,
        "two.tar": False,
    }


def test_a_name_that_an_archive_does_not_hold_is_refused(lone):
    assert "contains nothing with that name" in refusal_of("check", lone / "two.tar" / "payments-0")

"""Every command on a directory that is newer than any known release reads it as the newest one, and
says so in one sentence.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from kafkaviz import versions
from kafkaviz.__main__ import main
from kafkaviz.log.archives.archive import unpack_if_archive
from tests.analysis.metadata_level import METADATA, OF_4_4, raise_level
from tests.cli.dumping.running import dumped
from tests.support.commands import refusal_of, text_of

SEGMENT = f"tickets-any-0/{590:020d}"
SENTENCE = "; the files are from a later release than kafkaviz knows, and are read as Kafka 4.4.0"
SAYS = {
    34: "metadata.version to level 34, new in 4.5",
    99: "metadata.version to level 99, which Kafka 4.4.0 does not know",
}
COMMANDS = {  # the question, and the status
    "check": (["check", "{dir}"], 1),
    "lookup": (["lookup", "{dir}/tickets-any-0", "--offset", "700"], 0),
    "lookup by time": (["lookup", "{dir}/tickets-any-0", "--timestamp", "1795000000000"], 0),
    "lookup in an index": (["lookup", f"{{dir}}/{SEGMENT}.index", "--offset", "700"], 0),
    "lookup in the metadata log": (["lookup", f"{{dir}}/{METADATA}", "--offset", "100"], 0),
    "rebuild": (["rebuild", "{dir}/tickets-any-0", "--out", "{out}"], 0),
    "simulate": (["simulate", "--replay", "{dir}/tickets-any-0", "--out", "{out}"], 0),
    "tune": (["tune", "{dir}"], 0),
    "tune of a partition": (["tune", "{dir}/tickets-any-0"], 0),
    "report": (["report", "{dir}", "-o", "{out}.html"], 0),
    "ingest": (["ingest", "{dir}", "--catalog", "{out}"], 0),
    "ingest without findings": (["ingest", "{dir}", "--catalog", "{out}", "--no-findings"], 0),
}


@pytest.fixture(scope="module")
def newer(restarted_4_4, tmp_path_factory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("newer")
    return {level: raise_level(restarted_4_4, folder / f"level-{level}", level) for level in SAYS}


def run(command: str, directory: Path, out: Path, *more: str) -> int:
    return main([*(part.format(dir=directory, out=out) for part in COMMANDS[command][0]), *more])


QUICK = ("check", "lookup", "rebuild", "tune of a partition")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "level"),
    [*((command, 99) for command in COMMANDS), *((command, 34) for command in QUICK)],
)
def test_every_command_answers_and_says_how_it_reads(
    command, level, newer, tmp_path, capsys, in_process
):
    status = run(command, newer[level], tmp_path / "out")
    text = " ".join("".join(capsys.readouterr()).split())
    assert status == COMMANDS[command][1] and text.count(SENTENCE) == 1 and SAYS[level] in text


@pytest.mark.parametrize("command", QUICK)
def test_no_command_says_so_of_a_directory_that_is_known(
    command, restarted_4_4, tmp_path, capsys, in_process
):
    assert run(command, restarted_4_4, tmp_path / "out") == COMMANDS[command][1]
    assert "later release than" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("command", ["check", "tune", "report"])
def test_json_says_it_next_to_the_release(command, newer, tmp_path, capsys):
    """kafka_version has the assumed release and the reason."""
    run(command, newer[99], tmp_path / "out", "--json")
    release = json.loads(capsys.readouterr().out)["kafka_version"]
    assert release["assumed"] == versions.NEWEST
    assert release["because"].endswith(SENTENCE) and SAYS[99] in release["because"]


def test_the_report_says_it(newer, tmp_path):
    run("report", newer[99], tmp_path / "out")
    assert "a later release than kafkaviz knows" in (tmp_path / "out.html").read_text()


def test_a_dump_is_that_of_the_tool_whatever_the_level(newer, restarted_4_4):
    known, later = (
        dumped(directory, ["--print-data-log", f"{SEGMENT}.log"])
        for directory in (restarted_4_4, newer[99])
    )
    assert (later, later.status) == (known, 0)


def test_what_a_person_types_is_still_refused(newer):
    words = "Kafka 4.5 is not a known release; give one from 0.10 to 4.4"
    assert words in refusal_of("check", newer[34], "--kafka-version", "4.5")


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("meta.properties", "version=2\nnode.id=1\ncluster.id=made\n", 2),
        (".kafka_cleanshutdown", '{"version":1,"brokerEpoch":2}', 1),
    ],
)
def test_a_small_file_of_a_later_version(name, text, version, restarted_4_4, tmp_path):
    root = shutil.copytree(restarted_4_4, tmp_path / "kafka")
    (root / name).write_text(text)
    trace = f"{name} has version {version}, which Kafka 4.4.0 does not know"
    assert f"read as Kafka 4.4.0 reads it ({trace}{SENTENCE})" in text_of("check", root, status=1)


@pytest.mark.parametrize("number", [str(10**400), "²", "-1", "two", ""])
def test_a_version_that_is_no_number_shows_nothing(number, restarted_4_4, tmp_path):
    """It is damage, which the check reports."""
    root = shutil.copytree(restarted_4_4, tmp_path / "kafka")
    (root / "meta.properties").write_text(f"version={number}\nnode.id=1\ncluster.id=made\n")
    assert "later release than" not in text_of("check", root, status=1)


def test_a_level_of_another_feature(restarted_4_4, tmp_path):
    """transaction.version is 9 while metadata.version is 33."""
    name = b"transaction.version"
    sets, level = b"\x01\x0c\x00" + bytes([len(name) + 1]) + name, 9
    directory = raise_level(restarted_4_4, tmp_path / "kafka", OF_4_4)
    newest = max((directory / METADATA).glob("*.checkpoint"))
    data = newest.read_bytes()
    place = data.index(sets) + len(sets)
    newest.write_bytes(data[:place] + level.to_bytes(2) + data[place + 2 :])
    trace = f"{newest.name} sets transaction.version to level 9, which Kafka 4.4.0 does not know"
    assert f"{METADATA}/{trace}{SENTENCE}" in text_of("check", directory, status=1)


@pytest.mark.nightly
@pytest.mark.parametrize("left", ["clean", "killed"])
@pytest.mark.parametrize("level", [99, 34])
def test_whole_directories(shared, left, level, tmp_path, capsys, in_process):
    recorded = unpack_if_archive(shared / "data" / f"kafka-4.4.0-{left}.tar.gz")
    directory = raise_level(recorded, tmp_path / left, level)
    topic = {"clean": "shipments-0", "killed": "tickets-any-0"}[left]
    segment = min((directory / topic).glob("*.index"))
    for command, (arguments, _) in COMMANDS.items():
        out = tmp_path / command.replace(" ", "-")
        parts = (
            part.replace(f"{SEGMENT}.index", f"{topic}/{segment.name}").replace(
                "tickets-any-0", topic
            )
            for part in arguments
        )
        status = main([part.format(dir=directory, out=out) for part in parts])
        text = " ".join("".join(capsys.readouterr()).split())
        assert status in (0, 1) and (status == 0 or command == "check"), command
        assert text.count(SENTENCE) == 1 and SAYS[level] in text, command
    assert sorted(os.listdir(directory)) == sorted(os.listdir(recorded))

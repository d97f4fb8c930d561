"""The command line of kafkaviz dump: Kafka's options, and readers that leave early."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaviz.__main__ import parser
from kafkaviz.cli import dump
from kafkaviz.cli.dumping import MAX_INT, DumpOptions
from tests.cli.dumping.running import dumped
from tests.support.commands import refusal_of

ROOT = Path(__file__).parents[2]
LOG = "00000000000000000000.log"


def options(line: str) -> DumpOptions:
    return dump.options(parser().parse_args(["dump", *line.split(" ")]))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a.log", DumpOptions(files=("a.log",))),
        ("--files a.log,b.log,", DumpOptions(files=("a.log", "b.log"))),
        ("--files=a.log c.log", DumpOptions(files=("a.log", "c.log"))),
        ("-files a.log -deep-iteration", DumpOptions(files=("a.log",), deep=True)),
        ("a.log --print-data-log", DumpOptions(files=("a.log",), prints=True, deep=True)),
        (
            "a.log --cluster-metadata-decoder --offsets-decoder",
            DumpOptions(files=("a.log",), prints=True, deep=True, decoder="offsets"),
        ),
        (
            "--files a.log --key-decoder-class",
            DumpOptions(files=("a.log",), prints=True, deep=True),
        ),
        (
            "a.log --value-decoder-class x.Y",
            DumpOptions(files=("a.log",), prints=True, deep=True, value_decoder_class="x.Y"),
        ),
        (
            "a.log --max-bytes 7 --skip-record-metadata",
            DumpOptions(files=("a.log",), max_bytes=7, skip_record_metadata=True),
        ),
        (
            "a.index --verify-index-only --max-message-size 9",
            DumpOptions(files=("a.index",), verify_index_only=True, max_message_bytes=9),
        ),
        (
            "a.index --index-sanity-check",
            DumpOptions(files=("a.index",), index_sanity_check=True, max_bytes=MAX_INT),
        ),
    ],
)
def test_kafkas_options_are_understood(line, expected):
    """Two dashes or one, with = or without; a decoder implies printing, printing implies records;
    the first decoder decides.
    """
    assert options(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--print-data",
        "a.log --max-bytes x",
        "a.log --max-bytes 99999999999",
        "a.log --max-message-size 2147483648",
        "--files",
    ],
)
def test_wrong_usage_is_2(line):
    """No file, an abbreviated option, or a number that Java's int cannot hold."""
    message = refusal_of("dump", *line.split())
    assert message.startswith("kafkaviz") and message.endswith(" --help\n")


@pytest.mark.slow
def test_nothing_is_written(damaged, tmp_path, fingerprint):
    """Kafka's tool cuts a torn .index and creates a missing one; the dump does neither."""
    copy = shutil.copytree(damaged, tmp_path / "copy")
    before = fingerprint(copy)
    for path in sorted(path for path in copy.rglob("*") if path.is_file()):
        is_index = path.suffix in (".index", ".timeindex")
        for mode in ([], ["--index-sanity-check"], ["--json"]) if is_index else ([],):
            dumped(copy, [*mode, str(path.relative_to(copy))])
    assert dumped(copy, ["nowhere-0/0.timeindex"]).status == 1
    assert fingerprint(copy) == before


def test_the_command_prints_and_ends_with_kafkas_status(killed):
    """The output before the exception stays, and the status is 1."""
    index = f"empty-room-1/{0:020}.index"
    command = [sys.executable, "-m", "kafkaviz", "dump", "--files", index]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=killed, env=environment, capture_output=True, text=True)
    assert run.stdout == f"Dumping {index}\n"
    assert run.stderr == 'Exception in thread "main" java.util.NoSuchElementException\n'
    assert run.returncode == 1


def test_a_reader_that_leaves_is_no_error(clean):
    command = [sys.executable, "-m", "kafkaviz", "dump", f"heartbeat-0/{LOG}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=clean, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == f"Dumping heartbeat-0/{LOG}\n".encode()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0

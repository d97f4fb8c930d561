"""Commands that take a path inside an archive, and the one that does not (README.md)."""

import pytest

from kafkaviz.__main__ import main
from tests.conftest import SAMPLES

ARCHIVE = SAMPLES / "kafka-4.3.1-clean.tar.gz"


@pytest.mark.parametrize(
    "command",
    [
        ["check", "nulls-0"],
        ["compaction", "accounts-0"],
        ["lookup", "nulls-0", "--offset", "3"],
        ["records", "nulls-0", "--columns", "offset"],
        ["transactions", "nulls-0"],
    ],
    ids=lambda command: command[0],
)
def test_a_partition_inside_an_archive(command, capfd):
    name, partition, *options = command
    assert main([name, str(ARCHIVE / partition), *options]) == 0
    assert capfd.readouterr().out


def test_dump_needs_the_unpacked_file(capfd):
    assert (
        main(["dump", str(ARCHIVE / "nulls-0" / f"{0:020}.log")]) == 1
    )  # as the status of the tool
    assert "Not a directory" in capfd.readouterr().err

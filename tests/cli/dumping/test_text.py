"""The text of a dump equals that of DumpLogSegments 4.3.1, also for damaged files."""

import base64
import gzip
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkaviz.log.archives.archive import unpack_if_archive
from tests.cli.dumping.running import DumpOutput, dumped, mode_and_path, options_of, without_frames
from tests.conftest import DATA, SAMPLES

GOLDEN = Path(__file__).parents[2] / "golden"
GOLDENS = sorted(
    path.relative_to(GOLDEN).as_posix().removesuffix(".out") for path in GOLDEN.rglob("*.out")
)
BROKERS = (
    "kafka-2.8.2-legacy",
    "kafka-4.3.1-damaged",
    "kafka-4.3.1-unstartable",
    *(
        pytest.param(name, marks=pytest.mark.nightly)
        for name in (
            "kafka-3.9.0-follower",
            "kafka-3.9.0-leader",
            "kafka-4.3.1-clean",
            "kafka-4.3.1-killed",
            "kafka-4.3.1-killed-restarted",
            "kafka-4.4.0-clean",
            "kafka-4.4.0-killed",
            "kafka-4.4.0-killed-restarted",
        )
    ),
)
# answers that Kafka's tool gave after an earlier run of its own had cut or made an .index
WRITTEN_BY_THE_TOOL = {
    "kafka-4.3.1-damaged/metrics-0/00000000000000000000.index.sanity",
    "kafka-4.3.1-damaged/rides-0/00000000000000001811.timeindex.sanity",
    "kafka-4.3.1-damaged/rides-0/00000000000000001811.timeindex.verify",
}
# of a codec: its Java library has words of its own
INEXACT = "org.apache.kafka.common.KafkaException"


def damaged_dumps() -> list[dict]:
    """Returns sets of files, the arguments of a run, and the output of Kafka's tool."""
    with gzip.open(DATA / "damaged_dumps.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", GOLDENS)
def test_a_sample_prints_what_kafka_printed(name):
    """Every answer in tests/golden: stdout, stderr, status."""
    broker, _, path_and_mode = name.partition("/")
    mode, path = mode_and_path(path_and_mode)
    answer = GOLDEN / f"{name}.out"
    err, status = answer.with_suffix(".err"), answer.with_suffix(".rc")
    expected = DumpOutput(
        answer.read_bytes(),
        err.read_bytes().decode() if err.exists() else "",
        int(status.read_text()) if status.exists() else 0,
    )
    actual = dumped(
        unpack_if_archive(SAMPLES / f"{broker}.tar.gz"), [*options_of(mode, path), path]
    )
    assert (
        actual.out.decode("utf-8", "replace").splitlines()
        == expected.out.decode("utf-8", "replace").splitlines()
    )
    assert actual == expected


def test_damaged_files_print_what_kafka_printed(tmp_path):
    """600 damaged files, or with other options: the same lines, ending at the same place."""
    cases, different = damaged_dumps(), []
    assert len(cases) > 600
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, content in case["files"].items():
            (folder / name).write_bytes(base64.b64decode(content))
        actual = dumped(folder, case["args"])
        expected = DumpOutput(
            case["out"].encode("utf-8", "surrogateescape"), case["err"], case["rc"]
        )
        if actual != expected and not _inexact(actual, expected):
            different.append((number, case["args"], actual, expected))
    assert different == []


def _inexact(actual: DumpOutput, expected: DumpOutput) -> bool:
    """Returns whether only the exception text of a lower library differs."""
    first, other = actual.err.partition("\n")[0], expected.err.partition("\n")[0]
    unreadable = "RecordException" in other or INEXACT in other or "IndexOutOfBounds" in other
    return actual[::2] == expected[::2] and (
        first == other or (unreadable and first.startswith("Exception in thread"))
    )


@pytest.mark.slow
@pytest.mark.parametrize("broker", BROKERS)
def test_a_whole_directory_prints_what_kafka_printed(broker, shared, tmp_path):
    """Every file in every mode that Kafka's tool was run with."""
    directory = unpack_if_archive(shared / "data" / f"{broker}.tar.gz")
    different, count = [], 0
    for name, expected in answers(shared / "data" / f"{broker}.expected.tar.gz"):
        mode, path = mode_and_path(name)
        count += 1
        if (
            f"{broker}/{name}" not in WRITTEN_BY_THE_TOOL
            and dumped(directory, [*options_of(mode, path), path]) != expected
        ):
            different.append(name)
    assert different == []
    assert count > 100


def answers(archive: Path) -> Iterator[tuple[str, DumpOutput]]:
    """Returns (path and mode, output of Kafka 4.3.1) of an archive of its answers."""
    parts: dict[str, dict[str, bytes]] = {}
    with tarfile.open(archive) as members:
        for member in members:
            _, _, path = member.name.partition("/")
            folder, _, name = path.partition("/")
            if folder in ("dump", "dump-4.3.1") and member.isfile():
                stem, _, part = name.rpartition(".")
                parts.setdefault(stem, {})[part] = members.extractfile(member).read()
    for name, pieces in sorted(parts.items()):
        yield (
            name,
            DumpOutput(
                pieces["out"],
                without_frames(pieces.get("err", b"").decode()),
                int(pieces.get("rc", b"0")),
            ),
        )

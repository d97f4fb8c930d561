"""python -m tests.support.outputs write FOLDER: every command's output for every recorded broker.
python -m tests.support.outputs compare BEFORE AFTER: the outputs that differ, and their first line.

Written once before a large change of the code and once after it, two folders show whether the
change affects an output. Each command runs in a process of its own, in a folder that has the same
name in both runs; moments and durations are left out.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("KAFKAVIZ_SHARED") or ROOT.parent / "shared")
KAFKA_FILES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint")
JSON = "--json"
OFFSETS = ("0", "25", "20000")
TIMES = ("max", "2026-09-21T18:22:31.444")
TEXTS = 4  # partitions of a broker whose outputs are asked for as text too
MOMENTS = (  # what no two runs have alike
    (re.compile(rb'("(?:now_ms|seconds|until_ms|gone_ms)": )[-0-9.e]+'), rb"\1..."),
    (re.compile(rb"\b[0-9.]+ (?:ms|s|min) *$", re.MULTILINE), b"..."),
    (re.compile(rb'("digest": ")[0-9a-f]+'), rb"\1..."),  # of files by their inodes
)


def main(argv: Sequence[str]) -> int:
    """Returns 0 if done or all alike, 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.outputs")
    doing = parser.add_subparsers(dest="doing", required=True)
    written = doing.add_parser("write")
    written.add_argument("folder", type=Path)
    written.add_argument(
        "--every", metavar="N", type=int, default=1, help="the n-th commands alone"
    )
    compared = doing.add_parser("compare")
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    arguments = parser.parse_args(argv)
    if arguments.doing == "compare":
        differences = list(compare(arguments.before, arguments.after))
        print("\n".join(differences) or "all outputs are the same")
        return 1 if differences else 0
    write(arguments.folder.absolute(), arguments.every)
    return 0


def write(folder: Path, every: int) -> None:
    """Writes FOLDER/BROKER/NUMBER.gz: the command, its status, stdout and stderr; and tables.

    `every`: 1 for all commands, n for each n-th, which is a quick check.
    """
    with tempfile.TemporaryDirectory(prefix="kafkaviz-outputs-") as there:
        place = Path(there)
        os.environ["KAFKAVIZ_CACHE"] = str(place / "cache")
        brokers = sorted(unpack(place))
        os.chdir(place)
        warm_up("kafka-4.3.1-clean/nulls-0")
        commands = list(chain(*map(of_broker, brokers), simulations(), usages()))
        print(f"{len(commands)} outputs of {len(brokers)} brokers", flush=True)
        for number, (broker, argv) in list(enumerate(commands))[::every]:
            out = folder / broker / f"{number:05}.gz"
            out.parent.mkdir(parents=True, exist_ok=True)
            words = json.dumps(argv).encode() + b"\n"
            with gzip.GzipFile(out, "wb", compresslevel=1, mtime=0) as file:
                file.write(words + run(argv, place))
        write_tables(folder, brokers, place)


def unpack(place: Path) -> Iterator[str]:
    """Returns the recorded broker directories, by their names."""
    for archive in sorted((SHARED / "data").glob("*.tar.gz")):
        if ".expected" not in archive.name:
            shutil.unpack_archive(archive, place / "unpacked", filter="tar")
    for folder in sorted((place / "unpacked").iterdir()):
        folder.rename(place / folder.name)
        yield folder.name


def of_broker(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yields (folder, arguments) of each command that reads this directory."""
    broker = Path(name)
    partitions = sorted(path for path in broker.iterdir() if path.is_dir())
    files = sorted(path for path in broker.rglob("*") if path.suffix in KAFKA_FILES)
    for form, chosen in (((JSON,), partitions), ((), partitions[:TEXTS])):
        for path in (broker, *chosen):
            yield name, ["check", str(path), *form]
            yield name, ["tune", str(path), *form]
        for path in chosen:
            yield name, ["rebuild", str(path), "--out", "out", *form]
            yield name, ["simulate", "--replay", str(path), "--out", "out", *form]
            for offset in OFFSETS:
                yield name, ["lookup", str(path), "--offset", offset, *form]
            for time in TIMES:
                yield name, ["lookup", str(path), "--timestamp", time, *form]
        for path in files:
            yield name, ["dump", str(path), "--deep-iteration", "--print-data-log", *form]


def simulations() -> Iterator[tuple[str, list[str]]]:
    """Yields commands that write and tune each included workload."""
    from kafkaviz.simulate.producers import presets

    for name in sorted(path.stem for path in Path(presets.__path__[0]).glob("*.toml")):
        for form in ((), (JSON,)):
            yield "workloads", ["simulate", name, "--out", "out", *form]
            yield "workloads", ["tune", name, *form]


def usages() -> Iterator[tuple[str, list[str]]]:
    """Yields --help of each command, and its use with wrong arguments or missing files."""
    for command in ("check", "dump", "ingest", "lookup", "rebuild", "report", "simulate", "tune"):
        yield "usage", [command, "--help"]
        yield "usage", [command, "nowhere"]
        yield "usage", [command, "--nothing"]


def run(argv: Sequence[str], place: Path) -> bytes:
    """Returns the status, and the bytes written to stdout, to stderr and into the folder `out`."""
    shutil.rmtree("out", ignore_errors=True)
    child = os.fork()
    if not child:
        os._exit(called(argv, place / "stdout", place / "stderr"))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    output = (place / "stdout").read_bytes() + b"\n" + (place / "stderr").read_bytes()
    return b"status %d\n" % status + comparable(output, place)


def called(argv: Sequence[str], out: Path, err: Path) -> int:
    """Runs the command in this process, whose streams become these files."""
    for number, path in enumerate((out, err), 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    from kafkaviz.__main__ import main as kafkaviz

    try:
        return kafkaviz(argv)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 3
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def warm_up(partition: str) -> None:
    streams = [os.dup(number) for number in (1, 2)]
    log = next(Path(partition).glob("*.log"))
    for argv in (
        ["check", partition],
        ["tune", partition],
        ["lookup", partition, "--timestamp", "earliest"],
        ["dump", str(log), "--print-data-log"],
        ["dump", str(log), "--print-data-log", JSON],
        ["rebuild", partition, "--out", "warm"],
        ["simulate", "--replay", partition, "--out", "warm"],
    ):
        called(argv, Path(os.devnull), Path(os.devnull))
        shutil.rmtree("warm", ignore_errors=True)
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)


def comparable(text: bytes, place: Path) -> bytes:
    """Returns the text without moments, durations and the folder that it was made in."""
    for pattern, instead in MOMENTS:
        text = pattern.sub(instead, text)
    return text.replace(str(place).encode(), b"PLACE")


def write_tables(folder: Path, brokers: Sequence[str], place: Path) -> None:
    """Writes FOLDER/tables/NAME.gz: the rows of each table of a catalog of all brokers, sorted."""
    import pyarrow.parquet as pq

    run(["ingest", *brokers, "--catalog", "catalog", "--master", "local[2]"], place)
    for table in sorted(path for path in (place / "catalog").iterdir() if path.is_dir()):
        if table.name.startswith("."):
            continue
        rows = sorted(json.dumps(row, default=str) for row in pq.read_table(table).to_pylist())
        (folder / "tables").mkdir(parents=True, exist_ok=True)
        with gzip.GzipFile(folder / "tables" / f"{table.name}.gz", "wb", 1, mtime=0) as file:
            file.write(comparable("\n".join(rows).encode(), place))


def compare(before: Path, after: Path) -> Iterator[str]:
    """Yields a line for each output that one folder lacks, and for the first difference of two."""
    names = [
        {path.relative_to(folder) for path in folder.rglob("*.gz")} for folder in (before, after)
    ]
    for lone in sorted(names[0] ^ names[1]):
        yield f"{lone}: only {'before' if lone in names[0] else 'after'}"
    for name in sorted(names[0] & names[1]):
        with gzip.open(before / name) as old, gzip.open(after / name) as new:
            line_pair = old.read().splitlines(), new.read().splitlines()
        if line_pair[0] != line_pair[1]:
            yield f"{name}: {difference(*line_pair)}"


def difference(old: Sequence[bytes], new: Sequence[bytes]) -> str:
    """Returns the command, and the first line that differs."""
    at = next((at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), -1)
    at = min(len(old), len(new)) if at < 0 else at
    lines = [b"".join(side[at : at + 1]).decode(errors="replace") for side in (old, new)]
    command = old[0].decode(errors="replace")[:120] if old else ""
    return f"{command} line {at}\n  - {lines[0][:300]}\n  + {lines[1][:300]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

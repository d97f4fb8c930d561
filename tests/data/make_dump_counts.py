"""Writes dump_counts.json: the counts in kafka-dump-log 4.3.1's output for each .log, .index and
.timeindex of the real brokers.

python make_dump_counts.py FOLDER > dump_counts.json, where FOLDER holds the unpacked archives of
Kafka's answers, one NAME.expected per broker directory NAME. A .log gives {"batches", "records",
"first_base_offset", "last_offset", "end_position"}, the end being where the last batch ends; an
index gives its number of entries. NOTES lists what Kafka does not print.
"""

import json
import re
import sys
from pathlib import Path

TOOL = "kafka-dump-log 4.3.1, default options"
# the second in archives that also hold the dumps of an older tool
DUMPS = ("dump", "dump-4.3.1")
NOTES = (
    (
        "An index dump stops at the first slot, other than slot 0, whose offset is the base "
        "offset: zeros behind the entries are not counted."
    ),
    (
        "A preallocated index that was never written prints its slot 0, zeros, as an entry: "
        "counted as printed, and named in `unwritten`."
    ),
    (
        "A dump in `died` ended with an exception. An index it says nothing of is null; a .log "
        "counts the batches before the exception."
    ),
    (
        "Compressed batches of magic 0 and 1 show no base offset and no record count: "
        "first_base_offset and records are null there."
    ),
    (
        "A .log line of magic 0 or 1 without compression is one record, and its offset is base and "
        "last offset at once."
    ),
    (
        "Kafka dumps .log, .index and .timeindex only: .deleted, .cleaned and .swap files have no "
        "line here."
    ),
    "What Kafka calls a mismatch (stderr) is counted like any other entry.",
)
SEGMENT_FILE = re.compile(r"(?P<base>\d{20})\.(?P<kind>log|index|timeindex)\.out")
BATCH = re.compile(
    r"(?:baseOffset: (?P<base>\d+) lastOffset: (?P<last>\d+) count: (?P<count>\d+) .*|offset: (?P"
    r"<message>\d+) )position: (?P<position>\d+) .*size: (?P"
    r"<size>\d+) magic: \d compresscodec: (?P<codec>\w+) "
)
ENTRY = {
    "index": re.compile(r"offset: (\d+) position: (\d+)$"),
    "timeindex": re.compile(r"timestamp: (-?\d+) offset: (\d+)$"),
}


def counts(folder: Path) -> dict:
    """Returns all counts of the answers in this folder, one member per broker directory."""
    result = {"tool": TOOL, "notes": NOTES, "died": {}, "unwritten": {}, "brokers": {}}
    for expected in sorted(folder.glob("*.expected")):
        name = expected.name.removesuffix(".expected")
        dumps = _dumps(expected)
        files = {
            path.relative_to(dumps).as_posix().removesuffix(".out"): path
            for path in sorted(dumps.glob("*/*.out"))
        }
        files = {file: path for file, path in files.items() if SEGMENT_FILE.fullmatch(path.name)}
        result["brokers"][name] = {file: _file(path) for file, path in files.items()}
        result["died"][name] = [file for file, path in files.items() if _died(path)]
        result["unwritten"][name] = [file for file, path in files.items() if _unwritten(path)]
    return result


def _dumps(expected: Path) -> Path:
    """Returns the folder of 4.3.1's dumps, which an archive may hold in a folder of its name."""
    return next(
        path
        for top in (expected / expected.name, expected)
        for name in DUMPS
        if (path := top / name).is_dir()
    )


def _file(out: Path) -> dict | int | None:
    """Returns the counts of one file, from the tool's stdout."""
    if SEGMENT_FILE.fullmatch(out.name)["kind"] == "log":
        return _log([match for line in _lines(out) if (match := BATCH.match(line))])
    return None if _died(out) else len(_entries(out))


def _log(batches: list[re.Match]) -> dict:
    if not batches:
        counts = {"batches": 0, "records": 0, "end_position": 0}
        return {**counts, "first_base_offset": None, "last_offset": None}
    last, records = batches[-1], [_records(batch) for batch in batches]
    return {
        "batches": len(batches),
        "records": None if None in records else sum(records),
        "first_base_offset": _base_offset(batches[0]),
        "last_offset": int(last["last"] or last["message"]),
        "end_position": int(last["position"]) + int(last["size"]),
    }


def _records(batch: re.Match) -> int | None:
    """Returns a batch's number of records; a compressed old message does not say it."""
    if batch["count"] is not None:
        return int(batch["count"])
    return 1 if batch["codec"] == "none" else None


def _base_offset(batch: re.Match) -> int | None:
    """Returns the batch's base offset, or None if a compressed message of magic 0 or 1 hides it."""
    if batch["base"] is not None:
        return int(batch["base"])
    return int(batch["message"]) if batch["codec"] == "none" else None


def _entries(out: Path) -> list[tuple[int, int]]:
    pattern = ENTRY[SEGMENT_FILE.fullmatch(out.name)["kind"]]
    return [
        (int(match[1]), int(match[2])) for line in _lines(out) if (match := pattern.match(line))
    ]


def _unwritten(out: Path) -> bool:
    """Returns whether the only entry is a slot 0 of zeros: (base offset, 0)."""
    name = SEGMENT_FILE.fullmatch(out.name)
    base = int(name["base"])
    return name["kind"] != "log" and _entries(out) == [
        (base, 0) if name["kind"] == "index" else (0, base)
    ]


def _died(out: Path) -> bool:
    status = out.with_suffix(".rc")
    return status.exists() and status.read_text().strip() != "0"


def _lines(out: Path) -> list[str]:
    return out.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    json.dump(counts(Path(sys.argv[1])), sys.stdout, separators=(",", ":"), sort_keys=True)
    print()

"""Writes legacy_logs.jsonl.gz: stretches of a 2.8.2 broker's .log files of magic 0 and 1, and
kafka-dump-log 4.3.1's output for them.

python make_legacy_logs.py DIRECTORY EXPECTED OUT, where DIRECTORY is the broker directory
kafka-2.8.2-legacy and EXPECTED the unpacked folder of Kafka's answers about it. One line per
stretch: {"file", "start", "hex", "dump"}; dump has the lines of its batches and records
(--print-data-log), which give positions from the file's first byte.
"""

import gzip
import json
import re
import sys
from pathlib import Path

BATCH = re.compile(r"(?:baseOffset|offset): .* position: (\d+) \S+: -?\d+ size: (\d+) magic: (\d) ")
STRETCH_BYTES = 5000


def stretches(directory: Path, expected: Path) -> list[dict]:
    """Yields the beginnings of partitions with old messages, and two changes of the magic."""
    found = []
    for log in sorted(directory.glob("*/*.log")):
        if not re.match(r"v[01]\.|native|mixed\.one", log.parent.name) or int(log.stem):
            continue
        out = expected / "dump-4.3.1" / log.parent.name / f"{log.name}.deep.out"
        dump = out.read_bytes().decode()
        starts = list(BATCH.finditer(dump))
        changes = [n - 2 for n in range(1, len(starts)) if starts[n][3] != starts[n - 1][3]]
        found += [stretch(log, dump, starts[first:]) for first in [0, *changes]]
    return found


def stretch(log: Path, dump: str, batches: list[re.Match]) -> dict:
    """Returns whole batches from the first of these on, as many as fit."""
    start = int(batches[0][1])
    end = start + STRETCH_BYTES
    fits = [one for one in batches if int(one[1]) + int(one[2]) <= end] or batches[:1]
    end = int(fits[-1][1]) + int(fits[-1][2])
    behind = batches[len(fits)].start() if len(fits) < len(batches) else len(dump)
    data = log.read_bytes()[start:end].hex()
    return {
        "file": f"{log.parent.name}/{log.name}",
        "start": start,
        "hex": data,
        "dump": dump[batches[0].start() : behind],
    }


if __name__ == "__main__":
    directory, expected, out = map(Path, sys.argv[1:])
    lines = [json.dumps(line, ensure_ascii=False) for line in stretches(directory, expected)]
    out.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))

"""Whole commands on damaged directories: each gives a result or one line of error; all targets."""

import contextlib
import io
import os
import shutil
from pathlib import Path
from random import Random

from kafkaviz.__main__ import main
from tests.fuzz.directories import ON_DISK, written
from tests.fuzz.documents import WRITTEN_BY_PEOPLE
from tests.fuzz.seeds import Tree
from tests.fuzz.targets import IN_MEMORY, Target, draw_broker, draw_partition, expect

COMMANDS = (
    ("tune", "PARTITION"),
    ("tune", "PARTITION", "--json"),
    ("tune", "DIR"),
    ("rebuild", "PARTITION", "--out", "OUT"),
    ("simulate", "--replay", "PARTITION", "--out", "OUT"),
    ("report", "DIR", "-o", "OUT.html", "--payload"),
    ("records", "PARTITION", "--payload", "text", "--mode", "PERMISSIVE", "-o", "OUT.jsonl"),
    ("records", "DIR", "--isolation", "read_uncommitted", "-o", "OUT.parquet"),
    ("records", "DIR", "--payload", "bytes", "--mode", "DROPMALFORMED", "-o", "OUT.arrow"),
)

OUT_FILES = ("OUT.html", "OUT.jsonl", "OUT.parquet", "OUT.arrow")


def read_command(seed: Tree, tree: Tree, draw: Random) -> None:
    """Runs one of them on the directory or on a topic-partition of it."""
    out = Path(os.environ["KAFKAVIZ_FUZZ"]) / "out"
    with written(tree) as root:
        partition = root / draw.choice(sorted({name.partition("/")[0] for name in tree} or {"a-0"}))
        places = {"DIR": str(root), "PARTITION": str(partition), "OUT": str(out)}
        places |= {name: f"{out}{name[3:]}" for name in OUT_FILES}
        argv = [places.get(word, word) for word in draw.choice(COMMANDS)]
        output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
                status = main(argv)
        finally:
            shutil.rmtree(out, ignore_errors=True)
    expect(status in (0, 1, 2), f"status {status} of {argv[0]}")


COMMANDED = (
    Target("command", 2, draw_partition, read_command),
    Target("command-broker", 1, draw_broker, read_command),
)
# those that open files are slower and have a small share
TARGETS = (*IN_MEMORY, *WRITTEN_BY_PEOPLE, *ON_DISK, *COMMANDED)

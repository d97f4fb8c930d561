"""python -m tests.kafka.record_loads: lets Kafka 4.3.1 and 4.4.0 read damaged checkpoints and load
damaged partition directories, and writes tests/data/load_faults.jsonl.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kafkaviz.format import names
from tests.kafka.harness import FOLDER, fetch_class_path

RELEASES = ("4.3.1", "4.4.0")
DATA = Path(__file__).parents[1] / "data" / "checkpoint_faults.jsonl"
CHECKPOINTS = (
    # nothing, blanks, zeros
    *(b"", b"0", b"0\n", b"0\n0\n", b"\n", b" \n", b"0\n\n", b"0\n0\n\n", b"0\n0\n \n"),
    *(b"\0", bytes(60), b"0\n0\n" + bytes(4), b"0" * 60, b"0" * 5000 + b"\n0\n"),
    # other ends of lines, and of words
    *(
        b"0\r\n1\r\nt 0 5\r\n",
        b"0\r1\rt 0 5",
        b"0\n1\nt 0 5",
        b"0\n1\nt\t0  5 \n",
        b"0\n1\n t 0 5\n",
    ),
    *(
        b"0\n1\nt\x0b0\x0c5\n",
        b"0\n1\nt 0 5\x85\n",
        "0\n1\nt 0 5\u2028\n".encode(),
        b"0\n1\nt\x1c0 5\n",
    ),
    # another version or count
    *(b"1\n1\nt 0 5\n", b"-1\n0\n", b"0 \n0\n", b" 0\n0\n", b"+0\n+1\nt +0 +5\n", b"-0\n-0\n"),
    *(b"0\n0\nt 0 5\n", b"0\n2\nt 0 5\n", b"0\n1\nt 0 5\nt 1 5\n", b"0\n-1\n", b"0\n-1\nt 0 5\n"),
    *(b"0\n2147483647\nt 0 5\n", b"0\n2147483646\nt 0 5\n", b"0\n2147483648\nt 0 5\n", b"0\nx\n"),
    # a byte order mark, UTF-16, bytes that are no UTF-8
    *(b"\xef\xbb\xbf0\n1\nt 0 5\n", "0\n1\nt 0 5\n".encode("utf-16"), b"0\n1\n\xff 0 5\n"),
    *(b"0\n1\nt 0 5\n\xff", b"0\n1\n\xed\xa0\x80 0 5\n", "0\n1\n\u00e4 0 5\n".encode()),
    # fields
    *(b"0\n1\nt 0\n", b"0\n1\nt 0 5 6\n", b"0\n1\nt\n", b"0\n1\nt x 5\n", b"0\n1\nt 0 x\n"),
    *(b"0\n1\nt x y z\n", b"0\n2\nt x 5\n", b"0\n1\nt 0 5\nt x 5\n", b"0\n2\nt 0 5\njunk\nt x 5\n"),
    *(b"0\n1\nt -1 -5\n", b"0\n1\nt 2147483648 5\n", b"0\n1\nt 0 9223372036854775807\n"),
    *(b"0\n1\nt 0 9223372036854775808\n", b"0\n1\nt 0 -9223372036854775808\n", b"0\n1\nt 0 5L\n"),
    *(
        b"0\n1\nt 0 5.0\n",
        b"0\n1\nt 0 0x5\n",
        b"0\n1\nt 0 -\n",
        b"0\n1\nt 0 +\n",
        b"0\n1\nt 0 1_0\n",
    ),
    *(
        "0\n1\nt \u0660 \u0665\n".encode(),
        "0\n1\nt 0 \uff15\n".encode(),
        "\u0660\n\u0660\n".encode(),
    ),
    *(
        "0\n1\nt 0 \U0001d7ce\n".encode(),
        "0\n1\nt 0 \u00b2\n".encode(),
        "0\n1\nt\u00a00 5\n".encode(),
    ),
    # the same partition twice, garbage
    *(b"0\n2\nt 0 5\nt 0 6\n", b"0\n2\nt 0 5\nt 00 6\n", b"junk", b"<html>\n", b'{"version":0}\n'),
    bytes(range(256)),
)


class Loads:
    """A process that reads and loads with the classes of one release."""

    def __init__(self, release: str):
        sources = [
            FOLDER / "src" / "loads" / "Loads.java",
            *(
                FOLDER / "src" / "common" / f"{name}.java"
                for name in ("IdleScheduler", "StillTime")
            ),
        ]
        path = fetch_class_path(f"loads-{release}", release, FOLDER / "starts.pom.xml", sources)
        self._process = subprocess.Popen(
            [
                "java",
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                path,
                "Loads",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> "Loads":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()

    def ask(self, question: dict) -> dict:
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def record_checkpoints() -> Iterator[dict]:
    """What both releases make of each checkpoint, which is the same."""
    with Loads("4.3.1") as older, Loads("4.4.0") as newer, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / names.RECOVERY_POINT_CHECKPOINT
        for data in CHECKPOINTS:
            path.write_bytes(data)
            answers = [kafka.ask({"checkpoint": str(path)}) for kafka in (older, newer)]
            assert answers[0] == answers[1], (data, answers)
            yield {"hex": data.hex(), **answers[0]}


def main() -> int:
    """Asks Kafka of everything."""
    lines = list(record_checkpoints())
    DATA.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    print(f"{len(lines)} checkpoints")
    return 0


if __name__ == "__main__":
    sys.exit(main())

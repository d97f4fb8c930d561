"""python -m tests.kafka.record_tiered: runs a broker with tiered storage (LocalTieredStorage), and
packs its files and the records of a consumer into tests/data.
"""

import gzip
import io
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.kafka.harness import JAVA, RELEASES, class_path, scratch

DATA = Path(__file__).parents[1] / "data"
RELEASE = RELEASES[0]
ARCHIVE = DATA / f"kafka-{RELEASE}-tiered.tar.xz"
ANSWERS = DATA / f"kafka-{RELEASE}-tiered-answers.jsonl.gz"
FOLDERS = ("logs", "store")
TIME_LIMIT_S = 600


def main() -> int:
    """Writes the archive: logs is the broker directory, store the files of LocalTieredStorage."""
    with scratch() as folder:
        command = [*JAVA, f"-Djava.io.tmpdir={folder}", "-cp", class_path(RELEASE)]
        answers = subprocess.run(
            [*command, "TieredBroker", folder],
            stdout=subprocess.PIPE,
            timeout=TIME_LIMIT_S,
            check=True,
        ).stdout
        ARCHIVE.write_bytes(_packed(Path(folder)))
    ANSWERS.write_bytes(gzip.compress(answers, mtime=0))
    for path in (ARCHIVE, ANSWERS):
        print(f"{path.name}: {path.stat().st_size} bytes")
    return 0


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=9) as archive:
        for name in FOLDERS:
            archive.add(folder / name, name)
    return packed.getvalue()


if __name__ == "__main__":
    sys.exit(main())

import shutil
from collections.abc import Container
from pathlib import Path


def copy_partitions(broker: Path, directory: Path, names: Container[str]) -> Path:
    """Copies the broker's own files and these topic-partitions into a new directory."""
    directory.mkdir()
    for path in broker.iterdir():
        if path.is_file():
            shutil.copy2(path, directory)
        elif path.name in names:
            shutil.copytree(path, directory / path.name)
    return directory

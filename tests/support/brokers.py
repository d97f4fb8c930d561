import shutil
from collections.abc import Container
from pathlib import Path

import pytest

from kafkaviz.log import metadata_log


def copy_partitions(broker: Path, directory: Path, names: Container[str]) -> Path:
    """Copies the broker's own files and these topic-partitions into a new directory."""
    directory.mkdir()
    for path in broker.iterdir():
        if path.is_file():
            shutil.copy2(path, directory)
        elif path.name in names:
            shutil.copytree(path, directory / path.name)
    return directory


def metadata_reads(monkeypatch: pytest.MonkeyPatch) -> list[metadata_log.MetadataImage]:
    """Returns a list to which each read of a metadata log adds its result."""
    images = []
    original = metadata_log.build_image

    def build_image(*arguments, **options):
        images.append(original(*arguments, **options))
        return images[-1]

    monkeypatch.setattr(metadata_log, "build_image", build_image)
    return images

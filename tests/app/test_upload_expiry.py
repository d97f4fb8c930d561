"""How long uploads are kept."""

import io
import os
import time
import zipfile
from pathlib import Path

import pytest

from kafkaviz.app import uploads
from kafkaviz.app.cache import broker_cache
from kafkaviz.log.archives import archive

SAMPLE = Path(__file__).parents[2] / "sample_data" / "kafka-4.3.1-damaged.tar.gz"
LATER_S = (uploads.EXPIRY_DAYS + 1) * uploads.DAY_S


@pytest.fixture
def uploaded(tmp_path, monkeypatch, starts) -> Path:
    """An archive that a visitor uploaded and opened, with everything derived from it."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    path = uploads.save(io.BytesIO(SAMPLE.read_bytes()), "kafka.tar.gz")
    catalog = broker_cache.catalog_path(broker_cache.broker(path))
    catalog.mkdir(parents=True)
    (catalog / "_catalog.json").write_text("{}")
    return path


def existing(path: Path) -> list[bool]:
    folder = uploads.folder().parent
    return [path.exists(), any(folder.glob("unpacked/*")), any(folder.glob("catalogs/*"))]


def test_an_upload_goes_with_all_that_came_of_it(uploaded):
    sample = archive.unpack_if_archive(SAMPLE)
    uploads.sweep(time.time() + LATER_S - 2 * uploads.DAY_S)
    assert existing(uploaded) == [True, True, True]
    uploads.sweep(time.time() + LATER_S)
    assert not uploaded.parent.exists() and existing(uploaded)[2] is False
    assert list(uploads.folder().iterdir()) == [] and sample.exists()


def test_what_is_opened_again_stays(uploaded):
    """The archive's own time, by which its unpacked folder is found, does not change."""
    long_ago = time.time() - LATER_S
    os.utime(uploaded.parent, (long_ago, long_ago))
    before = uploaded.stat().st_mtime_ns
    broker_cache.clear_all()
    broker_cache.broker(uploaded)
    uploads.sweep()
    assert existing(uploaded) == [True, True, True] and uploaded.stat().st_mtime_ns == before


def test_what_is_in_an_upload_goes_and_stays_with_it(tmp_path, monkeypatch, starts):
    """With two brokers each has its own catalog; opening one opens the archive."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for number in (1, 2):
            out.writestr(f"broker-{number}/meta.properties", f"version=1\nnode.id={number}\n")
    path = uploads.save(packed, "two.zip")
    for number in (1, 2):
        broker_cache.catalog_path(broker_cache.broker(path / f"broker-{number}")).mkdir(
            parents=True
        )
    assert len({path.name for path in uploads.catalogs().iterdir()}) == 2
    long_ago = time.time() - LATER_S
    os.utime(path.parent, (long_ago, long_ago))
    broker_cache.clear_all()
    broker_cache.broker(path / "broker-1")
    uploads.sweep()
    assert existing(path) == [True, True, True]
    uploads.sweep(time.time() + LATER_S)
    assert existing(path.parent) == [False, False, False]


def test_a_new_upload_sweeps(uploaded):
    """So a server that runs for months keeps no more than a week of uploads."""
    long_ago = time.time() - LATER_S
    os.utime(uploaded.parent, (long_ago, long_ago))
    other = uploads.save(io.BytesIO(b"another"), "other.zip")
    assert not uploaded.exists() and other.exists()


def test_other_paths_are_not_touched(tmp_path):
    path = tmp_path / "kafka.tar.gz"
    path.write_bytes(b"")
    os.utime(tmp_path, (1, 1))
    uploads.touch_upload(path)
    assert tmp_path.stat().st_mtime == 1

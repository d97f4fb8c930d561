"""Findings about files of a partition directory that have none of Kafka's names."""

import shutil

import pytest

from kafkaviz.analysis.broker_health import Health, check
from tests.analysis.lab import Lab
from tests.support.findings import only

PLAIN = "clicks-none-0"
FIRST = "00000000000000000000"


@pytest.fixture(scope="module")
def lab(clean, tmp_path_factory) -> Lab:
    return Lab(clean, tmp_path_factory.mktemp("names") / "kafka", [PLAIN])


def check_with_file(lab: Lab, name: str) -> Health:
    path = lab.path / PLAIN / name
    path.write_bytes(b"junk")
    health = check(lab.path, "4.3.1")
    path.unlink()
    return health


@pytest.mark.parametrize(
    ("name", "consequence"),
    [
        ("5.log", "name_makes_segment"),
        ("0.log", "unknown_file"),
        ("0.index", "unknown_file"),
        ("5.index", "deleted_at_start"),
        ("5.snapshot", "name_of_snapshot"),
        ("notes.deleted", "deleted_at_start"),
        ("00000000000000000000.log.bak", "unknown_file"),
        (".DS_Store", "unknown_file"),
    ],
)
def test_a_file_of_another_name_is_reported_with_the_effect_of_a_start(name, consequence, lab):
    """LogLoader of 4.3.1 and 4.4.0 treats these names so (tests.simulate.test_load_faults)."""
    health = check_with_file(lab, name)
    found = only(health, "unknown-file")
    assert found.file == f"{PLAIN}/{name}"
    assert found.consequence.key == f"consequence.{consequence}"
    assert (found.severity == "error") == (consequence == "name_makes_segment")
    assert health.restart.starts


@pytest.mark.parametrize(
    "name",
    [f"._{FIRST}.log", f"{FIRST} (1).index", "x.snapshot", "x.cleaned", ".swap"],
)
def test_a_name_that_ends_the_start_is_reported_once(name, lab):
    health = check_with_file(lab, name)
    (found,) = [found for found in health.findings if found.file == f"{PLAIN}/{name}"]
    assert (found.code, found.severity) == ("recovery-will-fail", "error")
    assert not health.restart.starts


@pytest.mark.parametrize(
    ("name", "consequence"),
    [
        ("notes", "folder"),
        ("x.log", "folder"),
        (f"{5:020}.log", "folder_as_log"),
        (f"{5:020}.index", "folder"),
        (f"{FIRST}.log.deleted", "folder"),
        (f"{FIRST}.snapshot", "folder"),
    ],
)
def test_a_folder_is_reported_with_the_effect_of_a_start(name, consequence, lab):
    """LogLoader of 4.3.1 and 4.4.0 passes over these (tests.simulate.test_load_faults)."""
    path = lab.path / PLAIN / name
    path.mkdir()
    health = check(lab.path, "4.3.1")
    path.rmdir()
    found = only(health, "unknown-file")
    assert found.file == f"{PLAIN}/{name}" and found.message.key == "finding.folder"
    assert found.consequence.key == f"consequence.{consequence}"
    assert health.restart.starts


def test_an_index_next_to_a_folder_of_the_name_of_its_log_stays(lab):
    """LogLoader asks whether the name exists: recorded on 4.3.1 and 4.4.0."""
    folder = lab.path / PLAIN / f"{5:020}.log"
    index = folder.with_suffix(".index")
    folder.mkdir()
    index.write_bytes(b"")
    found = only(check(lab.path, "4.3.1"), "orphan-index")
    folder.rmdir()
    alone = only(check(lab.path, "4.3.1"), "orphan-index")
    index.unlink()
    assert found.consequence.key == "consequence.kept_beside_folder"
    assert alone.consequence.key == "consequence.deleted_at_start"


def test_white_space_in_a_directory_name_ends_the_start_after_the_next(lab):
    """A broker of 4.4.0 started on such a directory, and then did not start again."""
    folder = lab.path / "clicks none-0"
    shutil.copytree(lab.path / PLAIN, folder)
    health = check(lab.path, "4.3.1")
    shutil.rmtree(folder)
    found = only(health, "directory-name-bad")
    assert (found.file, found.partition) == (folder.name, folder.name)
    assert found.consequence.key == "consequence.name_with_space"
    assert health.restart.starts

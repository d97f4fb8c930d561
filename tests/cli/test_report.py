"""kafkaviz report as an operator runs it: file, text, JSON, and refusals."""

import hashlib
import shutil

import pytest

from kafkaviz.__main__ import main
from tests.conftest import SAMPLES
from tests.support.commands import json_of, refusal_of, text_of


def test_the_file_and_the_words(damaged, tmp_path, capsys):
    out = tmp_path / "broker.html"
    assert main(["report", str(damaged), "-o", str(out)]) == 0
    captured = capsys.readouterr()
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert captured.out.startswith(f"{out}: 2.") and "will start" in captured.out
    assert "5 errors, 9 warnings, 4 worth knowing" in captured.out
    steps = ("checking", "counting", "tuning", "writing")
    assert captured.err == "".join(f"kafkaviz: {step}\n" for step in steps)
    assert list(tmp_path.iterdir()) == [out]


def test_the_json_is_as_documented(damaged, tmp_path):
    out = tmp_path / "r.html"
    report = json_of("report", damaged / "bookings-0", "-o", out, "--sha256")
    assert " ".join(report) == (
        "schema file bytes sha256 directory kafka_version counts restart recommendation inputs"
    )
    assert (report["file"], report["bytes"]) == (str(out), out.stat().st_size)
    assert report["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    expected = {"verdict": "keep", "setting": "index.interval.bytes", "value": 2048}
    assert report["recommendation"] == expected
    expected_restart = {
        "clean": True,
        "starts": True,
        "partial": False,
        "metadata_log_missing": False,
        "offline_directories": [],
    }
    assert report["restart"] == expected_restart and report["counts"]["error"] > 0
    assert {field["file"] for field in report["inputs"]} == {
        f"bookings-0/{path.name}" for path in (damaged / "bookings-0").iterdir()
    }
    first = report["inputs"][0]
    assert first["sha256"] == hashlib.sha256((damaged / first["file"]).read_bytes()).hexdigest()


def test_an_archive_and_a_release_and_a_setting(tmp_path):
    archive, out = SAMPLES / "kafka-4.3.1-damaged.tar.gz", tmp_path / "r.html"
    options = ("--kafka-version", "3.9", "--set", "log.retention.ms=-1", "--sha256")
    text_of("report", archive, "-o", out, *options)
    page = out.read_text(encoding="utf-8")
    assert "Kafka 3.9: the release was given" in page and "log.retention.ms, as typed" in page
    assert hashlib.sha256(archive.read_bytes()).hexdigest() in page


def test_a_report_is_replaced(clean, tmp_path):
    out = tmp_path / "r.html"
    out.write_text("before")
    text_of("report", clean / "tiny-index-0", "-o", out)
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("below", ["r.html", "tiny-index-0/r.html"])
def test_nothing_is_written_in_an_inspected_directory(clean, tmp_path, below):
    """Nor in another directory of Kafka's, nor through a link; checked before reading."""
    broker = tmp_path / "broker"
    shutil.copytree(clean / "tiny-index-0", broker / "tiny-index-0")
    shutil.copy(clean / "meta.properties", broker)
    (tmp_path / "link").symlink_to(broker)
    before = sorted(broker.rglob("*"))
    for opened in (broker, broker / "tiny-index-0", clean / "tiny-index-0"):
        for out in (broker / below, tmp_path / "link" / below):
            assert "kafkaviz writes nothing into Kafka" in refusal_of("report", opened, "-o", out)
    assert sorted(broker.rglob("*")) == before


def test_a_report_is_written_next_to_a_partition_without_a_broker(clean, tmp_path):
    """The folder of the copy is not Kafka's, even with logs of other programs in it."""
    shutil.copytree(clean / "tiny-index-0", tmp_path / "tiny-index-0")
    (tmp_path / "app.log").write_text("")
    text_of("report", tmp_path / "tiny-index-0", "-o", tmp_path / "r.html")
    assert (tmp_path / "r.html").is_file()


@pytest.mark.parametrize("name", ["r.txt", "orders.tar.gz", ".html", ""])
def test_a_file_that_is_no_page_is_refused(clean, name):
    assert "does not end in .html" in refusal_of("report", clean, "-o", name)


def test_a_folder_that_is_not_there_and_one_that_is_no_file(clean, tmp_path):
    (tmp_path / "a.html").mkdir()
    error = refusal_of("report", clean, "-o", tmp_path / "no" / "r.html")
    assert "is not there; make the folder first" in error
    error = refusal_of("report", clean, "-o", tmp_path / "a.html")
    assert "is a directory; name a file in this directory" in error


def test_what_is_no_broker_is_reported(tmp_path):
    error = refusal_of("report", tmp_path, "-o", tmp_path / "r.html")
    assert "neither a meta.properties" in error and not list(tmp_path.iterdir())

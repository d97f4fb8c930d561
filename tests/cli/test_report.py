"""kafkaviz report as an operator runs it: file, text, JSON, and refusals."""

import hashlib
import json
import shutil

import pytest

from kafkaviz.__main__ import main


def test_the_file_and_the_words(damaged, tmp_path, capsys):
    out = tmp_path / "broker.html"
    assert main(["report", str(damaged), "-o", str(out)]) == 0
    captured = capsys.readouterr()
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (
        captured.out.startswith(f"{out}: 2.")
        and "5 errors, 9 warnings, 4 worth knowing" in captured.out
        and "will start" in captured.out
    )
    assert captured.err.splitlines() == [
        "kafkaviz: checking",
        "kafkaviz: counting",
        "kafkaviz: tuning",
        "kafkaviz: writing",
    ]
    assert list(tmp_path.iterdir()) == [out]


def test_the_json_is_as_documented(damaged, tmp_path, capsys):
    out = tmp_path / "r.html"
    assert main(["report", str(damaged / "bookings-0"), "-o", str(out), "--json", "--sha256"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == [
        "schema",
        "file",
        "bytes",
        "sha256",
        "directory",
        "kafka_version",
        "counts",
        "restart",
        "recommendation",
        "inputs",
    ]
    assert (report["file"], report["bytes"]) == (str(out), out.stat().st_size)
    assert report["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert report["recommendation"] == {
        "verdict": "keep",
        "setting": "index.interval.bytes",
        "value": 2048,
    }
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


def test_an_archive_and_a_release_and_a_setting(tmp_path, capsys):
    from tests.conftest import SAMPLES

    archive, out = SAMPLES / "kafka-4.3.1-damaged.tar.gz", tmp_path / "r.html"
    assert (
        main(
            [
                "report",
                str(archive),
                "-o",
                str(out),
                "--kafka-version",
                "3.9",
                "--set",
                "log.retention.ms=-1",
                "--sha256",
            ]
        )
        == 0
    )
    page = out.read_text(encoding="utf-8")
    assert "Kafka 3.9: the release was given" in page and "log.retention.ms, as typed" in page
    assert hashlib.sha256(archive.read_bytes()).hexdigest() in page


def test_a_report_is_replaced(clean, tmp_path, capsys):
    out = tmp_path / "r.html"
    out.write_text("before")
    assert main(["report", str(clean / "tiny-index-0"), "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("below", ["r.html", "tiny-index-0/r.html"])
def test_nothing_is_written_in_an_inspected_directory(clean, tmp_path, capsys, below):
    """Nor in another directory of Kafka's, nor through a link; checked before reading."""
    broker = tmp_path / "broker"
    shutil.copytree(clean / "tiny-index-0", broker / "tiny-index-0")
    shutil.copy(clean / "meta.properties", broker)
    (tmp_path / "link").symlink_to(broker)
    before = sorted(broker.rglob("*"))
    for opened in (broker, broker / "tiny-index-0", clean / "tiny-index-0"):
        for out in (broker / below, tmp_path / "link" / below):
            assert main(["report", str(opened), "-o", str(out)]) == 2
            assert "kafkaviz writes nothing into Kafka" in capsys.readouterr().err
    assert sorted(broker.rglob("*")) == before


def test_a_report_is_written_next_to_a_partition_without_a_broker(clean, tmp_path, capsys):
    """The folder of the copy is not Kafka's, even with logs of other programs in it."""
    shutil.copytree(clean / "tiny-index-0", tmp_path / "tiny-index-0")
    (tmp_path / "app.log").write_text("")
    assert main(["report", str(tmp_path / "tiny-index-0"), "-o", str(tmp_path / "r.html")]) == 0


@pytest.mark.parametrize("name", ["r.txt", "orders.tar.gz", ".html", ""])
def test_a_file_that_is_no_page_is_refused(clean, capsys, name):
    with pytest.raises(SystemExit) as ended:
        main(["report", str(clean), "-o", name])
    assert ended.value.code == 2 and "does not end in .html" in capsys.readouterr().err


def test_a_folder_that_is_not_there_and_one_that_is_no_file(clean, tmp_path, capsys):
    (tmp_path / "a.html").mkdir()
    assert main(["report", str(clean), "-o", str(tmp_path / "no" / "r.html")]) == 2
    assert "is not there; make the folder first" in capsys.readouterr().err
    assert main(["report", str(clean), "-o", str(tmp_path / "a.html")]) == 2
    assert "is a directory; name a file in it" in capsys.readouterr().err


def test_what_is_no_broker_is_reported(tmp_path, capsys):
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "r.html")]) == 2
    assert "neither a meta.properties" in capsys.readouterr().err and not list(tmp_path.iterdir())

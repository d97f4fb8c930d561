"""kafkaviz calibrate: its measurements, its file, and the prices of tune that use them."""

import json

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.cost import calibration

MEASURES = ("pread_17_us", "pread_61_us", "minor_fault_us")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Uses a cache folder of the test, and a small file."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(calibration.measure, "__defaults__", (None, 4 << 20))


def test_it_measures_and_keeps(tmp_path, capsys):
    """Least, median and p90 increase, and the measured file is deleted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    assert main(["calibrate", str(folder), "--json"]) == 0
    measurement = json.loads(capsys.readouterr().out)
    for name in MEASURES:
        assert (
            0 < measurement[name]["min"] <= measurement[name]["median"] <= measurement[name]["p90"]
        ), name
    assert list(folder.iterdir()) == []
    assert measurement["kept"] == str(tmp_path / "cache" / "calibration.json")
    assert calibration.load_calibration() == {
        name: value for name, value in measurement.items() if name not in ("kept", "schema")
    }
    assert measurement["notes"]


def test_it_says_what_it_measured(tmp_path, capsys):
    assert main(["calibrate"]) == 0
    out = capsys.readouterr().out
    assert (
        "17 bytes from the page cache" in out
        and f"saved in {tmp_path / 'cache' / 'calibration.json'}" in out
    )


def test_tune_prices_with_it(capsys):
    """It says when it was measured; a preset of storage is not replaced."""
    measure = {"min": 1.0, "median": 2.0, "p90": 3.0, "samples": 1}
    document = {
        "measured_at": "2026-11-21T00:00:00+00:00",
        "pread_17_us": measure,
        "pread_61_us": measure,
        "random_read_us": measure,
    }
    calibration.save_calibration(document)
    main(["tune", "heartbeat", "--json", "--kafka-version", "3.9"])
    costs = json.loads(capsys.readouterr().out)["costs"]
    assert costs["header_us"]["typical"] == pytest.approx(4.48) and costs["read_us"]["high"] == 3.0
    assert costs["calibrated"] == document["measured_at"]
    main(["tune", "heartbeat", "--json"])
    assert json.loads(capsys.readouterr().out)["costs"]["modelled"] is False
    main(["tune", "heartbeat", "--json", "--storage", "hdd"])
    assert json.loads(capsys.readouterr().out)["costs"]["storage"] == "hdd"


BROKEN = (
    "",
    "{",
    "[]",
    '{"pread_17_us": 1}',
    '{"pread_17_us": {}, "pread_61_us": {}, "measured_at": 3}',
    (
        '{"pread_17_us": {}, "pread_61_us": {"min": 1, "median": 2, "p90": 3}, "measured_at": '
        '"2026-11-21"}'
    ),
    (
        '{"pread_17_us": {"min": 1, "median": 2, "p90": 3}, "pread_61_us": {"min": 1, "median": 2, '
        '"p90": null}, "measured_at": ""}'
    ),
    (
        '{"pread_17_us": {"min": 1, "median": 2, "p90": 3}, "pread_61_us": {"min": 1, "median": 2, '
        '"p90": 3}, "minor_fault_us": {"min": 1}, "measured_at": ""}'
    ),
)


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_kept_and_broken_is_named(text, capsys):
    """One line for a foreign or truncated file, and no number is made up."""
    calibration.calibration_path().parent.mkdir(exist_ok=True)
    calibration.calibration_path().write_text(text)
    assert main(["tune", "heartbeat"]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith(f"kafkaviz: {calibration.calibration_path()}: is not a calibration")


def test_a_report_says_that_a_calibration_is_broken(killed, tmp_path, capsys):
    """The rest of the report is complete."""
    calibration.calibration_path().parent.mkdir(exist_ok=True)
    calibration.calibration_path().write_text("{}")
    assert main(["report", str(killed), "--out", str(tmp_path / "report.html")]) == 0
    assert "is not a calibration" in capsys.readouterr().out


def test_nothing_is_written_into_a_directory_of_kafkas(clean, tmp_path, capsys):
    """Neither into a broker directory nor into a partition's; a missing folder is refused."""
    for folder in (clean, clean / "orders-0"):
        assert main(["calibrate", str(folder)]) == 2
        assert "kafkaviz writes nothing" in capsys.readouterr().err
    assert main(["calibrate", str(tmp_path / "nowhere")]) == 2
    assert not (tmp_path / "nowhere").exists()
    assert calibration.load_calibration() is None

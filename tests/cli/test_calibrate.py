"""kafkaviz calibrate: its measurements, its file, and the prices of tune that use them."""

import pytest

from kafkaviz.analysis.cost import calibration
from tests.support.commands import json_of, refusal_of, text_of

GOOD = '{"min": 1, "median": 2, "p90": 3}'


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Uses a cache folder of the test, and a small file."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(calibration.measure, "__defaults__", (None, 4 << 20))


def test_it_measures_and_keeps(tmp_path):
    """Least, median and p90 increase, and the measured file is deleted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    measurement = json_of("calibrate", folder)
    for name in ("pread_17_us", "pread_61_us", "minor_fault_us"):
        measure = measurement[name]
        assert 0 < measure["min"] <= measure["median"] <= measure["p90"], name
    assert list(folder.iterdir()) == []
    assert measurement["kept"] == str(tmp_path / "cache" / "calibration.json")
    assert calibration.load_calibration() == {
        name: value for name, value in measurement.items() if name not in ("kept", "schema")
    }
    assert measurement["notes"]


def test_it_says_what_it_measured(tmp_path):
    out = text_of("calibrate")
    assert "17 bytes from the page cache" in out
    assert f"saved in {tmp_path / 'cache' / 'calibration.json'}" in out


def test_tune_prices_with_it():
    """It says when it was measured; a preset of storage is not replaced."""
    measure = {"min": 1.0, "median": 2.0, "p90": 3.0, "samples": 1}
    document = {
        "measured_at": "2026-11-21T00:00:00+00:00",
        "pread_17_us": measure,
        "pread_61_us": measure,
        "random_read_us": measure,
    }
    calibration.save_calibration(document)
    costs = json_of("tune", "heartbeat", "--kafka-version", "3.9")["costs"]
    assert costs["header_us"]["typical"] == pytest.approx(4.48) and costs["read_us"]["high"] == 3.0
    assert costs["calibrated"] == document["measured_at"]
    assert json_of("tune", "heartbeat")["costs"]["modelled"] is False
    assert json_of("tune", "heartbeat", "--storage", "hdd")["costs"]["storage"] == "hdd"


BROKEN = (
    "",
    "{",
    "[]",
    '{"pread_17_us": 1}',
    '{"pread_17_us": {}, "pread_61_us": {}, "measured_at": 3}',
    f'{{"pread_17_us": {{}}, "pread_61_us": {GOOD}, "measured_at": "2026-11-21"}}',
    f'{{"pread_17_us": {GOOD}, "pread_61_us": {GOOD.replace("3", "null")}, "measured_at": ""}}',
    f'{{"pread_17_us": {GOOD}, "pread_61_us": {GOOD}, "minor_fault_us": {{"min": 1}}, '
    '"measured_at": ""}',
)


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_kept_and_broken_is_named(text):
    """One line for a foreign or truncated file, and no number is made up."""
    calibration.calibration_path().parent.mkdir(exist_ok=True)
    calibration.calibration_path().write_text(text)
    words = f"kafkaviz: {calibration.calibration_path()}: is not a calibration"
    assert refusal_of("tune", "heartbeat").startswith(words)


def test_a_report_says_that_a_calibration_is_broken(killed, tmp_path):
    """The rest of the report is complete."""
    calibration.calibration_path().parent.mkdir(exist_ok=True)
    calibration.calibration_path().write_text("{}")
    assert "is not a calibration" in text_of("report", killed, "--out", tmp_path / "report.html")


def test_nothing_is_written_into_a_directory_of_kafkas(clean, tmp_path):
    """Neither into a broker directory nor into a partition's; a missing folder is refused."""
    for folder in (clean, clean / "orders-0"):
        assert "kafkaviz writes nothing" in refusal_of("calibrate", folder)
    assert refusal_of("calibrate", tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    assert calibration.load_calibration() is None

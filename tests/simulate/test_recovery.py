"""Recovery, held against Kafka's own LogSegment.recover on whole and damaged logs."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

import numpy as np

from kafkaviz.simulate.config import IndexConfig, profile
from kafkaviz.simulate.recovery import Recovered, recover

STEM = "<DIR>/t-0/{:020d}"


def lines(path: Path) -> list[dict]:
    """The JSON objects of a file, one a line."""
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def unpacked(packed: str) -> bytes:
    return gzip.decompress(base64.b64decode(packed))


def content(file: dict) -> bytes:
    """An index file of which the zeros at its end were left out."""
    written = bytes.fromhex(file["hex"]) if "hex" in file else unpacked(file["gz"])
    return written + bytes(file["file_len"] - len(written))


def reader(log: bytes):
    """read(position, buffer) over bytes in memory."""
    data = np.frombuffer(log, np.uint8)

    def read(position: int, buffer: np.ndarray) -> int:
        part = data[position : position + len(buffer)]
        buffer[: len(part)] = part
        return len(part)

    return read


def recovered(line: dict, log: bytes) -> Recovered:
    """What kafkaviz makes of a line's log."""
    modified = re.search(r"lastModifiedTime=(\d+)", line.get("error", {}).get("message", ""))
    release = tuple(int(part) for part in line["version"].split("."))
    config = IndexConfig(line["index_interval_bytes"], line["segment_index_bytes"])
    return recover(
        reader(log), len(log), line["base_offset"], config, profile(release),
        stem=STEM.format(line["base_offset"]), modified_ms=int(modified[1]) if modified else 0,
    )


def differences(line: dict) -> list[str]:
    """Where kafkaviz and Kafka differ on a line of recoveries."""
    log = unpacked(line["log_gz"])
    ours = recovered(line, log)
    cut = log[: len(log) - ours.truncated_bytes]
    pairs = {
        "error": (str(ours.raised) if ours.raised else None, "{class}: {message}".format(**line["error"]) if "error" in line else None),
        "log": (hashlib.sha256(cut).hexdigest(), line["after"]["log_sha256"]),
        "index": (ours.index(), content(line["after"]["index"])),
        "timeindex": (ours.timeindex(), content(line["after"]["timeindex"])),
        "txnindex": (ours.txnindex().hex() or None, line["txnindex_hex"]),
        "epochs": (epochs_text(ours), line["leader_epoch_checkpoint"]),
        "closed index": (ours.closed_index(), content(line["closed"]["index"])),
        "closed timeindex": (ours.closed_timeindex(), content(line["closed"]["timeindex"])),
    }
    if "error" not in line:
        pairs |= {
            "truncated": (ours.truncated_bytes, line["truncated"]),
            "largest timestamp": (ours.max_timestamp_ms, line["max_timestamp_so_far"]),
            "next offset": (ours.next_offset, line["next_offset"]),
        }
    return [f"{line['id']} {name}: {str(ours)[:200]} {str(kafka)[:200]}" for name, (ours, kafka) in pairs.items() if ours != kafka]


def epochs_text(ours: Recovered) -> str:
    """leader-epoch-checkpoint; a cache that was never assigned writes nothing."""
    entries = "".join(f"{epoch} {start}\n" for epoch, start in ours.leader_epochs)
    return f"0\n{len(ours.leader_epochs)}\n{entries}" if entries else ""


def test_every_recorded_recovery(shared):
    """All 240 recoveries that 3.9.0 and 4.3.1 made: files to the byte, offsets, epochs, exceptions."""
    found = lines(shared / "vectors" / "recoveries.jsonl.gz")
    assert len(found) == 240 and [difference for line in found for difference in differences(line)] == []


def test_every_recovery_of_an_old_segment(shared):
    """1.1.1, whose entries hold first offsets, and 2.0.1: the indexes of undamaged segments to the byte."""
    found = lines(shared / "vectors" / "legacy-segments.jsonl.gz")
    assert {line["version"] for line in found} == {"1.1.1", "2.0.1"} and len(found) == 50
    for line in found:
        ours = recovered(line, unpacked(line["log_gz"]))
        files = line["recovered"]
        assert (ours.index(), ours.timeindex()) == (content(files["index"]), content(files["timeindex"])), line["id"]
        assert ours.truncated_bytes == line["recover_truncated"] == 0


def test_some_recorded_recoveries(data):
    """The kept lines, one of each kind of damage and of each exception."""
    found = lines(data / "recoveries.jsonl.gz")
    assert len(found) > 20 and [difference for line in found for difference in differences(line)] == []

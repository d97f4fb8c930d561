"""Logs that Kafka's LogSegment.recover processed, and the same with kafkaviz's."""

import hashlib
import re

from kafkaviz.binary.file_view import reader
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.recovery import RecoveredSegment, recover
from tests.support.vectors import content, unpacked

STEM = "<DIR>/t-0/{:020d}"


def run_recovery(line: dict, log: bytes) -> RecoveredSegment:
    modified = re.search(r"lastModifiedTime=(\d+)", line.get("error", {}).get("message", ""))
    release = tuple(int(part) for part in line["version"].split("."))
    config = IndexConfig(line["index_interval_bytes"], line["segment_index_bytes"])
    return recover(
        reader(log),
        len(log),
        line["base_offset"],
        config,
        release_behaviour(release),
        stem=STEM.format(line["base_offset"]),
        modified_ms=int(modified[1]) if modified else 0,
    )


def differences(line: dict) -> list[str]:
    log = unpacked(line["log_gz"])
    ours = run_recovery(line, log)
    cut = log[: len(log) - ours.truncated_bytes]
    pairs = {
        "error": (
            str(ours.exception) if ours.exception else None,
            "{class}: {message}".format(**line["error"]) if "error" in line else None,
        ),
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
    return [
        f"{line['id']} {name}: {str(ours)[:200]} {str(kafka)[:200]}"
        for name, (ours, kafka) in pairs.items()
        if ours != kafka
    ]


def epochs_text(ours: RecoveredSegment) -> str:
    """Returns the leader-epoch-checkpoint; a cache that was never assigned writes nothing."""
    entries = "".join(f"{epoch} {start}\n" for epoch, start in ours.leader_epochs)
    return f"0\n{len(ours.leader_epochs)}\n{entries}" if entries else ""

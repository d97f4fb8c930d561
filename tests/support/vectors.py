"""Recordings of Kafka's own classes: lines of JSON in which files are packed as text."""

import base64
import gzip
import json
from pathlib import Path


def json_lines(path: Path) -> list[dict]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return [json.loads(line) for line in data.splitlines()]


def unpacked(packed: str) -> bytes:
    return gzip.decompress(base64.b64decode(packed))


def written(file: dict) -> bytes:
    """Returns an index file up to the zeros that the recording leaves out."""
    return bytes.fromhex(file["hex"]) if "hex" in file else unpacked(file["gz"])


def content(file: dict) -> bytes:
    """Returns a whole index file."""
    return written(file).ljust(file["file_len"], b"\0")

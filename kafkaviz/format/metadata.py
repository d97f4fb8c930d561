"""Records of the cluster metadata log (KRaft): which features a cluster was set to.

A value is a frame: unsigned varints for the frame's version (1), the record's type and its version, then the fields in
Kafka's flexible encoding, where a string's length is an unsigned varint, one too large. 4.3.1, FeatureLevelRecord 0:

    01 0c 00 | 11 6d6574...6f6e | 001e | 00        type 12; "metadata.version" (16 bytes); level 30; no tagged fields
"""

from dataclasses import dataclass

from kafkaviz.binary.varint import read_unsigned
from kafkaviz.errors import CorruptBytes

FRAME_VERSION = 1
FEATURE_LEVEL_RECORD = 12


@dataclass(frozen=True)
class FeatureLevel:
    """A feature and the level it was set to; level 0 takes the feature away."""

    name: str
    level: int


def feature_level(value: bytes) -> FeatureLevel | None:
    """The feature that a metadata record's value sets, or None if it is another record."""
    at, fields = 0, []
    try:
        for _ in range(4):
            number, at = read_unsigned(value, at)
            fields.append(number)
    except CorruptBytes:
        return None
    frame_version, kind, _, name_size = fields
    if (frame_version, kind) != (FRAME_VERSION, FEATURE_LEVEL_RECORD):
        return None
    end = at + name_size - 1
    return FeatureLevel(value[at:end].decode("utf-8", "replace"), int.from_bytes(value[end : end + 2], "big", signed=True))

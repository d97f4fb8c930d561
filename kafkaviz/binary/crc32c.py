"""CRC-32C (Castagnoli), the checksum of a batch since magic 2; messages of magic 0 and 1 have the CRC-32 of zlib."""

from crc32c import crc32c

__all__ = ["crc32c"]

"""Bytes that know no Kafka file: variable-length numbers, the checksum, the codecs."""

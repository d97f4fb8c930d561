"""Byte-level tools that know no Kafka file: variable-length numbers, checksums and codecs."""

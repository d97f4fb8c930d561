"""Infers settings, causes of rolls and the Kafka version from the files of a directory."""

"""Infers settings, the causes of rolls and the Kafka version from the files in a directory."""

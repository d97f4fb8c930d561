"""Infers settings, the causes of rolls and the Kafka release from the files in a directory."""

"""Kafka's searches for offsets and timestamps, with every step."""

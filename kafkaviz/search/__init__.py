"""Searches for offsets and timestamps as Kafka does. The results contain every step."""

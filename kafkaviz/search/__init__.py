"""Searches for offsets and timestamps as Kafka does them; the results contain every step."""
